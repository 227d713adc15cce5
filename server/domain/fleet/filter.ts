import { type SQL, sql } from 'drizzle-orm';
import type {
  Condition,
  FieldValue,
  FleetField,
  FleetFields,
  QueriedRows,
  ValueOf,
} from '#server/domain/fleet-field.ts';
import { type VmHealth, vmHealths } from '#server/domain/verdicts/index.ts';
import { rank } from './field.ts';
import type { FleetFilter } from './fields.ts';
import type { FleetSort } from './input.ts';

/** A table with the alias `h`, and a condition on its rows. */
export interface FleetRows {
  table: SQL;
  where: SQL;
}

/** How to read the VMs of a list. `table` and `where` select every matching VM, in any order. */
export interface FleetSource extends FleetRows {
  id: SQL;
  /** The condition of `where` in a form that is fast when rows are read in the list's order. */
  each: SQL;
  /** Conditions that split the table into parts, each of which an index returns in the list's order. */
  streams: SQL[];
  /** The condition that a row of a stream must meet to match the filter. */
  streamCondition: SQL;
  /** Whether every row of the streams matches. */
  isAll: boolean;
  /**
   * Selects rows of extensions (alias `e`) that meet all conditions on extensions and belong to VMs that meet all other
   * conditions.
   */
  extensions: SQL;
}

/** A field with the filter's value for it. */
interface Given {
  field: FleetField;
  value: ValueOf<FieldValue>;
}

/** Returns the fields that the filter uses. An empty string or list is not a condition. */
function givenFields(fields: FleetFields, filter: FleetFilter): Given[] {
  const values: Readonly<Record<string, ValueOf<FieldValue> | undefined>> = filter;
  return fields.flatMap((field) => {
    const value = values[field.name];
    return value === undefined || (typeof value !== 'number' && value.length === 0) ? [] : [{ field, value }];
  });
}

/**
 * Selects the VMs that match a filter. A list that is sorted by name and filtered only by the VM's name, hold or agent
 * version reads `vms`, which contains new VMs immediately. Any other list reads `vm_health`, which is updated within a
 * second.
 */
export function fleetSource(
  fields: FleetFields,
  filter: FleetFilter,
  now: Date,
  sort: FleetSort = 'name',
): FleetSource {
  const given = givenFields(fields, filter);
  const isByHealth = !sort.endsWith('name') || given.some(({ field }) => field.of !== 'vm');
  const id = isByHealth ? sql`h.vm_id` : sql`h.id`;
  const ranks = isByHealth ? ranksOf(given) : null;
  const table = isByHealth ? sql`vm_health h` : sql`vms h`;
  const { ofVm, ofExtension } = conditionsOf(given, { table: isByHealth ? 'vm_health' : 'vms', id, now, filter });
  const conditions = [...ofVm, ...onOneExtension(ofExtension)];
  const ofTable = isByHealth ? inRanks(ranks) : sql`h.deleted_at is null`;
  const every = (conditions: readonly SQL[]): SQL => sql.join([sql`true`, ...conditions], sql` and `);
  const rows = conditions.map(({ row }) => row);
  // For these orders, an index returns sorted rows only within a single rank.
  const isByRank = isByHealth && (sort.endsWith('since') || (sort.endsWith('name') && ranks !== null));
  const setOf = ({ set }: Condition): SQL => set;
  return {
    table,
    id,
    where: every([ofTable, ...conditions.map(setOf)]),
    each: every([ofTable, ...rows]),
    streams: isByRank ? (ranks ?? vmHealths.map(rank)).map((one) => inRanks([one])) : [ofTable],
    streamCondition: every(rows),
    isAll: conditions.length === 0,
    extensions: every([
      ...ofExtension.map(setOf),
      ...(ofVm.length === 0 && ranks === null
        ? []
        : [sql`e.vm_id in (select ${id} from ${table} where ${every([ofTable, ...ofVm.map(setOf)])})`]),
    ]),
  };
}

/** Returns the ranks that can match; null if every rank can. */
function ranksOf(given: readonly Given[]): SQL[] | null {
  let found = new Set<VmHealth>(vmHealths);
  for (const { field, value } of given) {
    if (field.healths) found = found.intersection(new Set(field.healths(value)));
  }
  return found.size === vmHealths.length ? null : found.size === 0 ? [sql`-1`] : [...found].map(rank);
}

const inRanks = (ranks: readonly SQL[] | null): SQL =>
  ranks === null ? sql`true` : sql`h.rank in (${sql.join([...ranks], sql`, `)})`;

/** Returns the conditions that a VM must meet, and the conditions that one of its extensions must meet. */
function conditionsOf(given: readonly Given[], rows: QueriedRows): { ofVm: Condition[]; ofExtension: Condition[] } {
  const ofExtension = given.filter(({ field }) => field.of === 'extension');
  const ofChange = given.filter(({ field }) => field.of === 'change');
  const others = given.filter(({ field }) => field.of !== 'extension' && field.of !== 'change');
  const of = (fields: readonly Given[]) => fields.flatMap(({ field, value }) => field.where(value, rows));
  return {
    ofVm: [...of(others), ...oneRow(sql`health_transitions c`, sql`c.vm_id`, of(ofChange), isVmHealth)],
    ofExtension: of(ofExtension),
  };
}

const onOneExtension = (conditions: readonly Condition[]): Condition[] =>
  oneRow(sql`extension_health e`, sql`e.vm_id`, conditions);

/**
 * Selects changes of a VM's health. The table also contains changes of extensions and heartbeats, and the first
 * evaluation of each VM.
 */
const isVmHealth = sql`c.extension is null and c.kind = 'health' and c."from" is not null`;

/** Combines conditions on the rows of another table into one: a single row of the VM must meet all of them. */
function oneRow(table: SQL, vmId: SQL, conditions: readonly Condition[], always = sql`true`): Condition[] {
  if (conditions.length === 0) return [];
  const all = (form: keyof Condition): SQL => sql.join([always, ...conditions.map((one) => one[form])], sql` and `);
  return [
    {
      set: sql`h.vm_id in (select ${vmId} from ${table} where ${all('set')})`,
      // With `offset 0`, PostgreSQL looks up each row. Otherwise it would first read and hash the whole table.
      row: sql`exists (select from ${table} where ${vmId} = h.vm_id and ${all('row')} offset 0)`,
    },
  ];
}
