"""Whether probabilities and samplers are calibrated: results of benchmarks, and the page that is made of them."""
