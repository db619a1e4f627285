// Geometry of the topic graph: positions of nodes, and the curves between them.

const NODE_LABEL = { letter: 7, height: 17 };

/**
 * Positions of nodes in pixels, from those of the layout in 0..1.
 *
 * Each coordinate is the mean of the layout coordinate and its rank, so that outliers do not crowd the other nodes; then
 * overlapping nodes are pushed apart.
 *
 * @param {number[][]} layout
 * @param {{r: number, letters: number}[]} sizes Radius of each node, and letters of its label.
 */
export function placeNodes(layout, sizes, width, height) {
  const [xs, ys] = [spread(layout.map(([x]) => x)), spread(layout.map(([, y]) => y))];
  const nodes = layout.map((_, k) => ({
    k, r: sizes[k].r, side: Math.max(sizes[k].r + 8, (sizes[k].letters * NODE_LABEL.letter) / 2 + 4), x: xs[k] * width, y: ys[k] * height,
  }));
  for (const node of nodes) keepInside(node, width, height);
  for (let round = 0; round < 300; round++) {
    let moved = false;
    for (let a = 0; a < nodes.length; a++) {
      for (let b = a + 1; b < nodes.length; b++) moved = pushApart(nodes[a], nodes[b]) || moved;
    }
    for (const node of nodes) keepInside(node, width, height);
    if (!moved) break;
  }
  return nodes;
}

function spread(values) {
  const order = values.map((_, at) => at).sort((x, y) => values[x] - values[y]);
  const last = Math.max(1, values.length - 1);
  const [low, span] = [values[order[0]], values[order[last]] - values[order[0]] || 1];
  const result = [];
  order.forEach((at, rank) => (result[at] = 0.5 * ((values[at] - low) / span) + 0.5 * (rank / last)));
  return result;
}

/** Push two nodes apart, the shorter way, if their boxes of circle and label overlap. */
function pushApart(p, q) {
  const [dx, dy] = [q.x - p.x, q.y - p.y];
  const [overX, overY] = [p.side + q.side - Math.abs(dx), p.r + q.r + NODE_LABEL.height + 14 - Math.abs(dy)];
  if (overX <= 0.5 || overY <= 0.5) return false;
  const axis = overX < overY ? "x" : "y";
  const step = 0.3 * Math.min(overX, overY) * ((axis === "x" ? dx : dy) < 0 ? -1 : 1);
  p[axis] -= step;
  q[axis] += step;
  return true;
}

/** Keep a node and its label in the picture. */
export function keepInside(node, width, height) {
  node.x = Math.max(node.side + 4, Math.min(width - node.side - 4, node.x));
  node.y = Math.max(node.r + 16, Math.min(height - node.r - NODE_LABEL.height - 16, node.y));
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
