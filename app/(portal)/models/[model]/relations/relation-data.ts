import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['relations'];

export type ShownRelationDetails = Outputs['get'];
export type RelationEvent = Outputs['events']['items'][number];
export type ShownReader = Outputs['readers']['readers'][number];
type NodeOfViewer = Outputs['nodes']['nodes'][number];
type NodeOfOperator = Outputs['settings']['nodes'][number];

/** A value of a node. `value` is null if it is masked, or if the reader may not see values. */
export interface NodeValue {
  bytes: number;
  masked: boolean;
  value: string | null;
}

/** The settings of a unit in a relation. */
export interface ShownNode
  extends Pick<NodeOfViewer, 'unit' | 'side' | 'version' | 'bytes' | 'written' | 'confirmedBy'> {
  values: ReadonlyMap<string, NodeValue>;
}

/** All nodes at a moment of a relation. */
export interface Moment {
  clock: number;
  nodes: readonly ShownNode[];
  /** Number of nodes that did not fit into the response. */
  leftOut: number;
}

/** Returns the nodes as pages show them, from the answer for viewers or for operators. */
export function momentOf({ clock, nodes, leftOut }: Outputs['nodes'] | Outputs['settings']): Moment {
  const shown = (nodes as readonly (NodeOfViewer | NodeOfOperator)[]).map((node): ShownNode => {
    const { unit, side, version, bytes, written, confirmedBy } = node;
    const values = 'settings' in node ? node.settings : node.keys.map((key) => ({ ...key, value: null }));
    return {
      unit,
      side,
      version,
      bytes,
      written,
      confirmedBy,
      values: new Map(values.map(({ key, ...one }) => [key, one])),
    };
  });
  return { clock, nodes: shown, leftOut: leftOut?.nodes ?? 0 };
}

/** What the server read for the page of a relation; undefined where it could not read a part. */
export interface RelationParts {
  nodes: Outputs['nodes'] | undefined;
  /** The nodes with values, if the reader may see them. */
  settings: Outputs['settings'] | undefined;
  events: Outputs['events'] | undefined;
  /** The units whose hook of the relation fails. */
  failing: Outputs['failing'] | undefined;
  /** The first unit that is not seen by all, with the most urgent unit that has not seen it. */
  readers: Outputs['readers'] | undefined;
}

/** Names a relation for the calls of its page. Changes of the relation reload them. */
export interface RelationName {
  model: string;
  number: number;
  id: string;
}

/** More participants are shown as a list with filters instead of a table. */
export const maxColumns = 12;
/** Number of events on one page of the history. */
export const eventsPageSize = 200;

/** Returns the endpoint that others see first: who requires, or the only one. */
export function endpointsInOrder({ endpoints }: Pick<ShownRelationDetails, 'endpoints'>) {
  return endpoints.toSorted((a, b) => Number(b.side === 'requires') - Number(a.side === 'requires'));
}

/** Returns a relation’s name, such as `wordpress:db, mysql:db`. */
export const relationTitle = (relation: Pick<ShownRelationDetails, 'endpoints'>): string =>
  endpointsInOrder(relation)
    .map(({ service, name }) => `${service}:${name}`)
    .join(', ');
