import type { SQL } from 'drizzle-orm';
import type words from '#locales/en/vms.json';
import type { ErrorCode } from '#server/domain/error.ts';
import type { VmHealth } from '#server/domain/verdicts/words.ts';

/** The value of a filter field, as plain data: the schema, the API's parameter and the address bar follow from it. */
export type FieldValue =
  /** `form` is a regular expression; `fault` says what is wrong with a text of another form. */
  | { kind: 'text'; min?: number; max: number; form?: string; fault?: ErrorCode }
  /** One or several of these words. */
  | { kind: 'words'; words: readonly string[] }
  | { kind: 'number'; min: number; max: number }
  /** Tags by name alone or with a value; a VM must have all of them. */
  | { kind: 'tags'; max: number; count: number };

/** A tag by name alone, or with its value. */
export interface TagFilter {
  name: string;
  value?: string | undefined;
}

/** The type of a field's value in a filter. */
export type ValueOf<V extends FieldValue> = V extends { kind: 'words'; words: readonly (infer Word)[] }
  ? Word[]
  : V extends { kind: 'text' }
    ? string
    : V extends { kind: 'number' }
      ? number
      : TagFilter[];

/** Rows with the alias `h`: of `vms` or of `vm_health`. */
export interface QueriedRows {
  table: 'vms' | 'vm_health';
  /** The VM's id. */
  id: SQL;
  now: Date;
}

/** A condition in two forms: `set` is fast when all rows are read, `row` when rows are checked one by one in order. */
export interface Condition {
  set: SQL;
  row: SQL;
}

/** Values of a field, each with a number of VMs or extensions, for the menu that offers them. */
export interface Facet {
  /** Label of the menu's search. */
  find: Extract<keyof typeof words, `filter.find.${string}`>;
  /** Selects `name`, `value` and `n` among the rows `h` that match. */
  rows(among: { table: SQL; where: SQL; id: SQL; isWhole: boolean }): SQL;
}

/** The part of a field that pages need. */
export interface FieldShape<N extends string = string, V extends FieldValue = FieldValue> {
  /** Name in a filter. */
  name: N;
  /** Name behind `?` of a page, a download or an API call. */
  parameter: string;
  label: Extract<keyof typeof words, 'search' | `filter.${string}`>;
  /** Whether a person sets it (name, tags, handler), or it changes through time and reports (health, messages). */
  isSetByPeople: boolean;
  value: V;
  /** Orders of the list that come with the field. */
  orders?: readonly ('name' | 'health' | 'since')[];
}

/** A field by which lists of VMs are filtered. Modules after `fleet` define their own; a process hands in all of them. */
export interface FleetField<N extends string = string, V extends FieldValue = FieldValue> extends FieldShape<N, V> {
  /** Shown in the API's description. */
  description?: string;
  /** Rows that it needs: both tables support `vm`; conditions on `extension` `e` must hold for the same extension. */
  of: 'vm' | 'health' | 'extension';
  /** The only healths that can match: rows are found by rank. */
  healths?(value: ValueOf<V>): readonly VmHealth[];
  where(value: ValueOf<V>, rows: QueriedRows): readonly Condition[];
  facet?: Facet;
}

/** The filter fields of a process, in the order in which pages offer them. */
export type FleetFields = readonly FleetField[];
