import { Graph, layout } from '@dagrejs/dagre';
import { cycleThrough, type Dependent } from '#protocol/dependencies.ts';

export const nodeWidth = 176;
export const nodeHeight = 46;

export interface Picture {
  width: number;
  height: number;
  /** The upper left corner of each node by name, in pixels. */
  nodes: ReadonlyMap<string, { x: number; y: number }>;
  edges: { from: string; to: string; inCycle: boolean; path: string }[];
}

/** Arranges extensions in layers from top to bottom, in the order in which they run. Positions are in pixels. */
export function pictureOf(all: readonly Dependent[]): Picture {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 12, ranksep: 34, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of all) graph.setNode(name, { width: nodeWidth, height: nodeHeight });
  const edges = edgesOf(all).filter(({ from, to }) => from !== to);
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: new Map(
      graph.nodes().map((name) => {
        const { x = 0, y = 0 } = graph.node(name);
        return [name, { x: x - nodeWidth / 2, y: y - nodeHeight / 2 }] as const;
      }),
    ),
    edges: edges.map(({ from, to, inCycle }) => ({
      from,
      to,
      inCycle,
      path: curve(graph.edge(from, to).points ?? []),
    })),
  };
}

/** Returns an SVG path through the points, with rounded corners. */
function curve(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return '';
  const turns = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1] ?? point;
    const end = index === rest.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${round(point.x)} ${round(point.y)} ${round(end.x)} ${round(end.y)}`;
  });
  return `M${round(first.x)} ${round(first.y)}${turns.join('') || `L${round(last.x)} ${round(last.y)}`}`;
}

const round = (value: number) => Math.round(value * 10) / 10;

/**
 * Returns each dependency as an edge to the extension that depends on it. An extension with an `inCycle` edge can never
 * run.
 */
export function edgesOf(all: readonly Dependent[]): { from: string; to: string; inCycle: boolean }[] {
  const known = new Set(all.map(({ name }) => name));
  return all.flatMap(({ name, dependsOn }) =>
    dependsOn
      .filter((other) => known.has(other))
      .map((other) => ({ from: other, to: name, inCycle: cycleThrough(all, name, other) !== null })),
  );
}
