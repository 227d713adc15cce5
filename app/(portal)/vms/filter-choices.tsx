import type { ReactNode } from 'react';
import { compareVersions } from '#protocol/version.ts';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import type { FleetFacet } from './reading.ts';

/** A value to filter by. */
export interface Choice {
  id: string;
  /** Whether the choice is indented below another choice. */
  inner: boolean;
  word: ReactNode;
  count: number | undefined;
  change: FleetFilter;
}

/** The display texts of the choices. */
export interface ChoiceWords {
  anyValue: string;
  without: string;
  olderThan(version: string): string;
  /** Returns the display text of a field's value. */
  valueOf(field: string, value: string): string;
}

export function choicesOf(
  field: ListedField,
  { name, count, values }: FleetFacet,
  filter: FleetFilter,
  words: ChoiceWords,
): Choice[] {
  const tags = filter.tags ?? [];
  const word = <span className="min-w-0 truncate font-medium">{name}</span>;
  if (field.name !== 'tags' && field.name !== 'handler') {
    return [
      {
        id: name,
        inner: false,
        word:
          field.value.kind === 'words' ? (
            <span className="min-w-0 truncate">{words.valueOf(field.name, name)}</span>
          ) : (
            <span translate="no" className="mono min-w-0 truncate">
              {name}
            </span>
          ),
        count,
        change: { [field.name]: field.value.kind === 'words' ? [name] : name },
      },
    ];
  }
  const whole =
    field.name === 'tags' ? { tags: [...tags, { name }] } : { handler: name, version: undefined, olderThan: undefined };
  const inner = (value: string, many: number | undefined): Choice => ({
    id: `${name} ${value}`,
    inner: true,
    word: <span className="min-w-0 truncate">{value}</span>,
    count: many,
    change:
      field.name === 'tags'
        ? { tags: [...tags, { name, value }] }
        : { handler: name, version: value, olderThan: undefined },
  });
  return [
    {
      id: name,
      inner: false,
      word: (
        <>
          {word} <span className="text-ink-3">{words.anyValue}</span>
        </>
      ),
      count,
      change: whole,
    },
    ...(field.name === 'handler' ? lines(values).map((line) => inner(`${line}.*`, undefined)) : []),
    ...values.map((value) => inner(value.value, value.count)),
    ...(field.name === 'handler' && values.length > 1 ? [older(name, newest(values), words)] : []),
    ...(field.name === 'handler' ? [without(name, words)] : []),
  ];
}

/** Returns the choice of the VMs without the handler. */
const without = (handler: string, words: ChoiceWords): Choice => ({
  id: `${handler} not`,
  inner: true,
  word: <span className="min-w-0 truncate">{words.without}</span>,
  count: undefined,
  change: { notHandler: handler },
});

/** Returns the choice of the VMs whose version of the handler is older than `version`. */
const older = (handler: string, version: string, words: ChoiceWords): Choice => ({
  id: `${handler} <${version}`,
  inner: true,
  word: <span className="min-w-0 truncate">{words.olderThan(version)}</span>,
  count: undefined,
  change: { handler, version: undefined, olderThan: version },
});

const newest = (values: FleetFacet['values']): string =>
  values.map(({ value }) => value).reduce((a, b) => (compareVersions(a, b) < 0 ? b : a));

/** Returns each `major.minor` prefix that several versions share, such as `2.4`. */
function lines(values: FleetFacet['values']): string[] {
  const all = values.map(({ value }) => value.split('.').slice(0, 2).join('.'));
  return [...new Set(all.filter((line, index) => all.indexOf(line) !== index))];
}
