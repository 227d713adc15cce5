'use client';

import { Fragment } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { NamedChange, NamedChanges, ShortValue } from '#server/domain/views/activity/index.ts';
import type { Say } from './sentence-of.ts';

/** The parts that an action changed, as a list inside a sentence: “Server answers off → on and version 1.0 → 1.1”. */
export function ChangedParts({ changes: { items, more } }: { changes: NamedChanges }) {
  const { t, i18n } = useTranslation('activity');
  const places = [...items.keys(), ...(more > 0 ? [items.length] : [])].map(String);
  return new Intl.ListFormat(i18n.language).formatToParts(places).map(({ type, value }, index) => {
    const item = type === 'element' ? items[Number(value)] : undefined;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence keep their order
      <Fragment key={index}>
        {type === 'literal' ? value : item === undefined ? t('change.more', { count: more }) : <Part change={item} />}
      </Fragment>
    );
  });
}

function Part({ change: { kind, name, values } }: { change: NamedChange }) {
  const { t } = useTranslation(['activity', 'common']);
  const { number } = useFormat();
  const what = t(`change.${kind}`, { name: name ?? '' });
  const show = (value: ShortValue): string => {
    if (value === null) return t('change.none');
    if (typeof value === 'boolean') return t(value ? 'change.on' : 'change.off');
    if (typeof value === 'number') return number(value, { maximumFractionDigits: 20 });
    const word = kind === 'state' ? `state.${value}` : kind === 'role' ? `common:role.${value}` : null;
    const text = word === null ? value : (t as unknown as Say)(word);
    return text === word ? value : text;
  };
  const text =
    values === null ? what : t('change.values', { what, before: show(values.before), after: show(values.after) });
  return <Trans text={text} tags={{ b: <em translate="no" className="font-medium text-ink not-italic" /> }} />;
}
