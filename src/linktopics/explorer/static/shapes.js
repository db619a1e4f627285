// Geometry of the topic graph: where nodes are, and the curves between them.

/** Places of nodes in pixels, from those of the bundle in 0..1; nodes and their labels are pushed off one another. */
export function placed(layout, radii, width, height) {
  const margin = { x: Math.min(70, width * 0.14), top: 44, bottom: 56 };
  const nodes = layout.map(([x, y], k) => ({
    k, r: radii[k],
    x: margin.x + x * (width - 2 * margin.x),
    y: margin.top + y * (height - margin.top - margin.bottom),
  }));
  for (let round = 0; round < 200; round++) {
    let moved = false;
    for (let a = 0; a < nodes.length; a++) {
      for (let b = a + 1; b < nodes.length; b++) moved = pushed(nodes[a], nodes[b], width) || moved;
    }
    for (const node of nodes) kept(node, width, height);
    if (!moved) break;
  }
  return nodes;
}

function pushed(p, q, width) {
  const [dx, dy] = [q.x - p.x || 0.01, q.y - p.y || 0.01];
  // Labels are wider than they are high: nodes above one another may be nearer than nodes side by side.
  const wanted = p.r + q.r + (width < 560 ? 22 : 40);
  const distance = Math.hypot(dx, dy * 1.15);
  if (distance >= wanted) return false;
  const step = ((wanted - distance) / distance) * 0.25;
  p.x -= dx * step;
  p.y -= dy * step;
  q.x += dx * step;
  q.y += dy * step;
  return true;
}

/** Keep a node and its label in the picture. */
export function kept(node, width, height) {
  const side = Math.min(60, width * 0.12) + 4;
  node.x = Math.max(side, Math.min(width - side, node.x));
  node.y = Math.max(node.r + 14, Math.min(height - node.r - 30, node.y));
}

/**
 * A curve from one node to another that ends at their borders, and the head of an arrow at its end.
 *
 * @returns {{line: string, head: string}} Paths.
 */
export function curve(p, q, thickness, directed) {
  const [dx, dy] = [q.x - p.x, q.y - p.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = directed ? 0.14 : 0;
  const [mx, my] = [(p.x + q.x) / 2 - dy * bend, (p.y + q.y) / 2 + dx * bend];
  const start = toward(p, mx, my, p.r + 6);
  const size = 5 + thickness * 1.2;
  const end = toward(q, mx, my, q.r + 6 + (directed ? size * 0.8 : 0));
  const tip = toward(q, mx, my, q.r + 6);
  const line = `M${fixed(start)} Q${fixed([mx, my])} ${fixed(end)}`;
  if (!directed || length < 1) return { line, head: "" };
  const angle = Math.atan2(tip[1] - end[1], tip[0] - end[0]);
  const corner = (turn) => [tip[0] - size * Math.cos(angle + turn), tip[1] - size * Math.sin(angle + turn)];
  return { line, head: `M${fixed(tip)} L${fixed(corner(0.45))} L${fixed(corner(-0.45))} Z` };
}

function toward(node, x, y, distance) {
  const [dx, dy] = [x - node.x, y - node.y];
  const length = Math.hypot(dx, dy) || 1;
  return [node.x + (dx / length) * distance, node.y + (dy / length) * distance];
}

function fixed([x, y]) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
