import { Graph, layout } from '@dagrejs/dagre';
import type { ShownRelation, ShownService } from '../service-data.ts';

export const boxWidth = 212;
export const boxHeight = 96;

/** Above this number of services, a faster and coarser order of columns is used. */
const maxPrecise = 60;

export interface PlacedBox {
  name: string;
  /** The upper left corner in pixels. */
  x: number;
  y: number;
}

/** A relation as a line from the service that requires to the service that provides. */
export interface PlacedRelation {
  number: number;
  from: string;
  to: string;
  path: string;
  /** Where the name of the interface is. */
  label: { x: number; y: number };
}

export interface ServiceLayout {
  width: number;
  height: number;
  services: ReadonlyMap<string, PlacedBox>;
  relations: readonly PlacedRelation[];
}

type Point = { x: number; y: number };

/** Returns the ends of a relation between two services; null for a relation among the units of one service. */
export function endsOf({ endpoints }: Pick<ShownRelation, 'endpoints'>): { from: string; to: string } | null {
  const from = endpoints.find(({ side }) => side === 'requires');
  const to = endpoints.find(({ side }) => side === 'provides');
  return from === undefined || to === undefined || from.service === to.service
    ? null
    : { from: from.service, to: to.service };
}

/** Identifies what a layout depends on: services and relations, but not their health. */
export const structureOf = (
  services: readonly Pick<ShownService, 'name'>[],
  relations: readonly Pick<ShownRelation, 'number'>[],
): string => `${services.map(({ name }) => name).join()};${relations.map(({ number }) => number).join()}`;

/** Arranges services in columns from left to right: those that require before those that provide. */
export function layoutServices(
  services: readonly Pick<ShownService, 'name'>[],
  relations: readonly Pick<ShownRelation, 'number' | 'endpoints' | 'interface'>[],
): ServiceLayout {
  const graph = new Graph({ multigraph: true });
  const ranker = services.length > maxPrecise ? 'tight-tree' : 'network-simplex';
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 110, edgesep: 18, marginx: 16, marginy: 16, ranker });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of services) graph.setNode(name, { width: boxWidth, height: boxHeight });
  const known = new Set(services.map(({ name }) => name));
  const drawn = relations.flatMap((relation) => {
    const ends = endsOf(relation);
    return ends === null || !known.has(ends.from) || !known.has(ends.to) ? [] : [{ relation, ends }];
  });
  for (const { relation, ends } of drawn) {
    const width = relation.interface.length * 7 + 24;
    graph.setEdge(ends.from, ends.to, { width, height: 20, labelpos: 'c' }, String(relation.number));
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    ...{ width, height },
    services: new Map(
      graph.nodes().map((name) => {
        const { x = 0, y = 0 } = graph.node(name);
        return [name, { name, x: x - boxWidth / 2, y: y - boxHeight / 2 }] as const;
      }),
    ),
    relations: drawn.map(({ relation: { number }, ends }) => {
      const edge = graph.edge(ends.from, ends.to, String(number));
      const points = edge.points ?? [];
      const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
      return { number, ...ends, path: curve(points), label: { x: edge.x ?? middle.x, y: edge.y ?? middle.y } };
    }),
  };
}

/** Returns an SVG path through the points, with rounded corners. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return '';
  const turns = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1] ?? point;
    const end = index === rest.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${text(point)} ${text(end)}`;
  });
  return `M${text(first)}${turns.join('') || `L${text(last)}`}`;
}

const text = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
