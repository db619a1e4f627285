"""What tests share: small models and networks, slow formulas, commands run in this process."""
