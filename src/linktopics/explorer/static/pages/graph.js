// The page of the topic graph.
import { TopicGraph } from "../charts/graph.js";

/** The page `#/graph`. */
export async function showGraph(model) {
  return new TopicGraph(model).element;
}
