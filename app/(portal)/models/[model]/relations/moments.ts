import type {
  Moment,
  NodeValue,
  RelationEvent,
  ShownNode,
  ShownReader,
  ShownRelationDetails,
} from './relation-data.ts';

/** The nodes of the units on one side, with the keys that any of them has. */
export interface SideTable {
  side: ShownNode['side'];
  service: string;
  /** The name of the relation in the service’s formula. */
  name: string;
  units: readonly string[];
  keys: readonly string[];
}

/**
 * Divides units by side: those that provide come first, then those that require. With a second moment, units and keys
 * of both are listed.
 */
export function sideTables(
  { endpoints }: Pick<ShownRelationDetails, 'endpoints'>,
  moment: Moment,
  other: Moment | null = null,
): SideTable[] {
  const all = [...moment.nodes, ...(other?.nodes ?? [])];
  return endpoints
    .toSorted((a, b) => order.indexOf(a.side) - order.indexOf(b.side))
    .map(({ side, service, name }) => {
      const nodes = all.filter((node) => node.side === side);
      return {
        ...{ side, service, name },
        units: [...new Set(nodes.map(({ unit }) => unit))],
        keys: [...new Set(nodes.flatMap(({ values }) => [...values.keys()]))].sort(),
      };
    });
}

const order: readonly string[] = ['provides', 'requires', 'peer'];

/** Returns how many units read the settings of a node: those of the other side, or all other peers. */
export const readersOf = (node: Pick<ShownNode, 'side' | 'unit'>, nodes: readonly ShownNode[]): number =>
  nodes.filter(({ side, unit }) => unit !== node.unit && (node.side === 'peer' || side !== node.side)).length;

/** Whether a unit has not confirmed the settings of a node. */
export const isUnseen = (node: ShownNode, nodes: readonly ShownNode[]): boolean =>
  node.confirmedBy < readersOf(node, nodes);

/** The most urgent reasons come first. */
const urgent: readonly ShownReader['why'][] = ['silent', 'running', 'waiting'];

/** Returns the units that have not confirmed settings although no hook fails, most urgent first. */
export const unitsBehind = ({ readers }: { readers: readonly ShownReader[] }): ShownReader[] =>
  readers
    .filter(({ confirmed, why }) => !confirmed && why !== 'failing')
    .toSorted((a, b) => urgent.indexOf(a.why) - urgent.indexOf(b.why));

/** Names a key of a unit. */
export const cellOf = (unit: string, key: string): string => `${unit} ${key}`;

/** Returns the cells that events after one clock and up to another changed. */
export function changedCells(events: readonly RelationEvent[], one: number, other: number): Set<string> {
  const [from, to] = [Math.min(one, other), Math.max(one, other)];
  return new Set(
    events
      .filter(({ clock }) => clock > from && clock <= to)
      .flatMap(({ unit, changes }) => changes.map(({ key }) => cellOf(unit, key))),
  );
}

/** Whether a value differs between two moments. Values that the reader does not see differ if an event changed them. */
export function differs(one: NodeValue | undefined, other: NodeValue | undefined, isChanged: boolean): boolean {
  if (one === undefined || other === undefined) return one !== other;
  if (one.value !== null && other.value !== null) return one.value !== other.value;
  return isChanged;
}

/** Counts the values that differ between two moments. */
export function countDifferences(one: Moment, other: Moment, changed: ReadonlySet<string>): number {
  const others = new Map(other.nodes.map((node) => [node.unit, node]));
  const units = [...new Set([...one.nodes, ...other.nodes].map(({ unit }) => unit))];
  const nodes = new Map(one.nodes.map((node) => [node.unit, node]));
  return units.reduce((sum, unit) => {
    const [a, b] = [nodes.get(unit)?.values, others.get(unit)?.values];
    const keys = new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])]);
    return sum + [...keys].filter((key) => differs(a?.get(key), b?.get(key), changed.has(cellOf(unit, key)))).length;
  }, 0);
}

/** Returns the event that last changed a key of a unit up to a clock; undefined if the loaded events do not have it. */
export const writerOf = (
  events: readonly RelationEvent[],
  { unit, key, clock }: { unit: string; key: string; clock: number },
): RelationEvent | undefined =>
  events.find((event) => event.clock <= clock && event.unit === unit && event.changes.some((one) => one.key === key));

/** Returns settings as JSON for the clipboard. Values that are masked are left out. */
export function momentAsJson(moment: Moment): string {
  const nodes = moment.nodes.map(({ unit, values }) => {
    const shown = [...values].filter(([, { value }]) => value !== null);
    return `${JSON.stringify(unit)}: {${shown.map(([key, { value }]) => `\n    ${JSON.stringify(key)}: ${value}`).join(',')}${shown.length === 0 ? '' : '\n  '}}`;
  });
  return `{\n  ${nodes.join(',\n  ')}\n}\n`;
}

/** What a list of many participants shows. */
export interface NodeFilter {
  /** Part of a unit’s name, of a key or of a value. */
  search: string;
  /** Only nodes that were written within this many minutes; null for all. */
  withinMinutes: number | null;
  /** Only nodes whose settings a unit has not confirmed. */
  behind: boolean;
}

/** Returns the nodes that a filter selects. */
export function filterNodes(nodes: readonly ShownNode[], filter: NodeFilter, now: number): ShownNode[] {
  const wanted = filter.search.trim().toLowerCase();
  const isMatch = ({ unit, values }: ShownNode) =>
    wanted === '' ||
    unit.toLowerCase().includes(wanted) ||
    [...values].some(([key, { value }]) => `${key}\n${value ?? ''}`.toLowerCase().includes(wanted));
  const isRecent = ({ written }: ShownNode) =>
    filter.withinMinutes === null ||
    (written !== null && now - Date.parse(written.at) <= filter.withinMinutes * 60_000);
  const bySide = new Map(
    ['provides', 'requires'].map((side) => [side, nodes.filter((node) => node.side !== side).length]),
  );
  const readers = (node: ShownNode) => (node.side === 'peer' ? nodes.length - 1 : (bySide.get(node.side) ?? 0));
  return nodes.filter(
    (node) => isMatch(node) && isRecent(node) && (!filter.behind || node.confirmedBy < readers(node)),
  );
}
