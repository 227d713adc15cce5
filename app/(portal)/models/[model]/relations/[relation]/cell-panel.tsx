'use client';

import { useId } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { unitHref } from '../../services/service-data.ts';
import { HookName } from '../../units/hook-name.tsx';
import { writerOf } from '../moments.ts';
import type { Moment, RelationEvent, RelationName } from '../relation-data.ts';
import type { OpenedCell } from './opened-cell.ts';
import type { Revealed } from './use-revealed.ts';
import { ValueText } from './value-text.tsx';

export interface CellPanelProps {
  name: RelationName;
  moment: Moment;
  events: readonly RelationEvent[];
  cell: OpenedCell | null;
  revealed: Revealed;
}

/** The value that the reader opened: who wrote it, when and in which hook, and what it was before. */
export function CellPanel({ name, moment, events, cell, revealed }: CellPanelProps) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  const format = useFormat();
  const id = useId();
  if (cell === null) {
    return (
      <Card aria-labelledby={id} className="max-lg:hidden">
        <CardHeader id={id} title={t('relation.panel.title')} />
        <CardBody className="text-pretty text-ink-2">
          <p>{t('relation.panel.how')}</p>
          <p className="mt-2">{t(may ? 'relation.panel.hidden' : 'relation.panel.viewer')}</p>
        </CardBody>
      </Card>
    );
  }
  const { unit, key } = cell;
  const node = moment.nodes.find((one) => one.unit === unit);
  const value = node?.values.get(key);
  const shown = revealed.value(unit, key, node?.version ?? 0);
  const event = writerOf(events, { unit, key, clock: moment.clock });
  const before = event?.changes.find((one) => one.key === key)?.before ?? null;
  const text = shown ?? value?.value ?? null;
  return (
    <Card aria-labelledby={id}>
      <CardHeader
        id={id}
        title={
          <span translate="no" className="mono">
            {key}
          </span>
        }
        note={t('relation.panel.of', { unit })}
        actions={text === null ? undefined : <CopyButton text={text} />}
      />
      <CardBody>
        <div className="max-h-64 overflow-y-auto rounded-md bg-sunken px-3 py-2 shadow-hair-subtle">
          <ValueText value={value} revealed={shown} isWhole />
        </div>
        <p className="mt-1 text-12 text-ink-2">
          {value === undefined ? null : `${format.bytes(value.bytes)}. `}
          {event === undefined ? null : before === null ? (
            t('relation.panel.added')
          ) : before.value === null ? (
            t('relation.panel.replaced')
          ) : (
            <Trans
              text={t('relation.panel.before', { value: before.value.slice(0, 200) })}
              tags={{ value: <span translate="no" dir="ltr" className="mono wrap-anywhere" /> }}
            />
          )}
        </p>
        <h3 className="mt-3 mb-1 text-12 font-medium text-ink-3">{t('relation.panel.who')}</h3>
        <Writer name={name} unit={unit} event={event} />
      </CardBody>
    </Card>
  );
}

function Writer({ name, unit, event }: { name: RelationName; unit: string; event: RelationEvent | undefined }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  if (event === undefined) return <p className="text-pretty text-ink-2">{t('relation.panel.unknown')}</p>;
  const { run, at, clock } = event;
  return (
    <>
      <p className="wrap-anywhere">
        {run === null ? (
          <span translate="no">{unit}</span>
        ) : (
          <Trans
            text={t('relation.panel.writer', {
              unit,
              hook: run.hook,
              run: t('unit.run.number', { number: run.number }),
            })}
            tags={{
              unit: <span translate="no" className="font-medium" />,
              hook: <HookName />,
              run: (
                <TextLink
                  href={`${unitHref(name.model, unit)}?run=${run.id}`}
                  prefetch={false}
                  className="whitespace-nowrap"
                />
              ),
            }}
          />
        )}
      </p>
      <p className="text-12 text-ink-3 tabular-nums">
        <DateTime value={new Date(at)} />, {t('relation.past.change', { clock: format.number(clock) })}
      </p>
    </>
  );
}
