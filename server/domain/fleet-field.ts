import type { SQL } from 'drizzle-orm';
import type words from '#locales/en/vms.json';
import type { ErrorCode } from '#server/domain/error.ts';
import type { VmHealth } from '#server/domain/verdicts/words.ts';

/**
 * The value type of a filter field, as plain data. The schema, the API parameter and the URL parameter are derived from
 * it.
 */
export type FieldValue =
  /** `form` is a regular expression; `fault` is the error code for text that does not match. */
  | { kind: 'text'; min?: number; max: number; form?: string; fault?: ErrorCode }
  /** One or more of these values. */
  | { kind: 'words'; words: readonly string[] }
  | { kind: 'number'; min: number; max: number }
  /** A time in UTC, in ISO 8601. */
  | { kind: 'time' }
  /** Tags by name, with or without a value. A VM must have all of them. */
  | { kind: 'tags'; max: number; count: number };

/** A tag by name, with or without its value. */
export interface TagFilter {
  name: string;
  value?: string | undefined;
}

/** The type of a field's value in a filter. */
export type ValueOf<V extends FieldValue> = V extends { kind: 'words'; words: readonly (infer Word)[] }
  ? Word[]
  : V extends { kind: 'text' | 'time' }
    ? string
    : V extends { kind: 'number' }
      ? number
      : TagFilter[];

/** The rows of `vms` or `vm_health` that a condition filters. Their alias is `h`. */
export interface QueriedRows {
  table: 'vms' | 'vm_health';
  /** SQL for the VM's id. */
  id: SQL;
  now: Date;
  /** The values of the whole filter, by field. */
  filter: Readonly<Record<string, ValueOf<FieldValue> | undefined>>;
}

/** A condition in two forms: `set` is fast when all rows are read, `row` when rows are checked one by one in order. */
export interface Condition {
  set: SQL;
  row: SQL;
}

/**
 * What a menu counts: the rows `h` of the matching VMs, and the extensions `e` that the filter matches on these VMs.
 */
export interface CountedRows {
  table: SQL;
  where: SQL;
  id: SQL;
  extensions: SQL;
}

/** The menu of a field: its values, each with the number of VMs that the list shows when the value is chosen. */
export interface Facet {
  /** Label of the menu's search box. */
  find: Extract<keyof typeof words, `filter.find.${string}`>;
  /** Returns a query with the columns `name`, `value` and `n`, the number of VMs. */
  rows(among: CountedRows): SQL;
}

/** The part of a field that the pages need. */
export interface FieldShape<N extends string = string, V extends FieldValue = FieldValue> {
  /** Name of the field in a filter. */
  name: N;
  /** Query parameter of a page, a download or an API call. */
  parameter: string;
  label: Extract<keyof typeof words, 'search' | `filter.${string}`>;
  /**
   * Whether only people change the field (name, tags, handler). False if reports or the passing of time change it
   * (health, messages).
   */
  isSetByPeople: boolean;
  value: V;
  /** Sort orders that this field adds to the list. */
  orders?: readonly ('name' | 'health' | 'since')[];
}

/**
 * A field by which lists of VMs can be filtered. Other modules can define more fields; each process passes in the
 * complete list.
 */
export interface FleetField<N extends string = string, V extends FieldValue = FieldValue> extends FieldShape<N, V> {
  /** Text for the API description. */
  description?: string;
  /**
   * What the condition reads. A condition on `vm` works on `vms` and `vm_health`, a condition on `health` only on
   * `vm_health`. Conditions on `extension` read extensions `e` and must all hold for the same extension. Conditions on
   * `change` read changes `c` of a VM's health and must all hold for the same change.
   */
  of: 'vm' | 'health' | 'extension' | 'change';
  /** Returns the health values that can match, so that rows can be looked up by rank. */
  healths?(value: ValueOf<V>): readonly VmHealth[];
  where(value: ValueOf<V>, rows: QueriedRows): readonly Condition[];
  facet?: Facet;
}

/** All filter fields of a process, in the order in which the pages offer them. */
export type FleetFields = readonly FleetField[];
