import type { ReactNode } from 'react';
import type { FleetFilter, ListedField } from '#server/domain/fleet/index.ts';
import type { FleetFacet } from './reading.ts';

/** A value to filter by. */
export interface Choice {
  id: string;
  /** Whether the choice is indented below another one. */
  inner: boolean;
  word: ReactNode;
  count: number | undefined;
  change: FleetFilter;
}

export function choicesOf(
  field: ListedField,
  { name, count, values }: FleetFacet,
  filter: FleetFilter,
  anyValue: string,
): Choice[] {
  const tags = filter.tags ?? [];
  const word = <span className="min-w-0 truncate font-medium">{name}</span>;
  if (field.name !== 'tags' && field.name !== 'handler') {
    return [
      {
        id: name,
        inner: false,
        word: (
          <span translate="no" className="mono min-w-0 truncate">
            {name}
          </span>
        ),
        count,
        change: { [field.name]: name },
      },
    ];
  }
  const whole = field.name === 'tags' ? { tags: [...tags, { name }] } : { handler: name, version: undefined };
  const inner = (value: string, many: number | undefined): Choice => ({
    id: `${name} ${value}`,
    inner: true,
    word: <span className="min-w-0 truncate">{value}</span>,
    count: many,
    change: field.name === 'tags' ? { tags: [...tags, { name, value }] } : { handler: name, version: value },
  });
  return [
    {
      id: name,
      inner: false,
      word: (
        <>
          {word} <span className="text-ink-3">{anyValue}</span>
        </>
      ),
      count,
      change: whole,
    },
    ...(field.name === 'handler' ? lines(values).map((line) => inner(`${line}.*`, undefined)) : []),
    ...values.map((value) => inner(value.value, value.count)),
  ];
}

/** Returns common prefixes, such as `2.4` if several versions begin with it. */
function lines(values: FleetFacet['values']): string[] {
  const all = values.map(({ value }) => value.split('.').slice(0, 2).join('.'));
  return [...new Set(all.filter((line, index) => all.indexOf(line) !== index))];
}
