'use client';

import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import { Card } from '#app/_ui/card.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { HealthCounts } from './health-counts.tsx';
import { type ListedModel, modelHref, needsOf, placeHref } from './model-data.ts';
import { ModelNeeds } from './model-needs.tsx';

/** The models by name. `j` and `k` move the cursor; Enter opens a model. */
export function ModelTable({ rows }: { rows: readonly ListedModel[] }) {
  const { t } = useTranslation('models');
  const { cursor, body } = useCursor(rows);
  return (
    <Card>
      <TableFrame label={t('title')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('column.model')}</Th>
              <Th end>{t('column.machines')}</Th>
              <Th className="max-md:hidden">{t('column.health')}</Th>
              <Th className="w-full max-sm:hidden">{t('column.needs')}</Th>
              <Th className="max-lg:hidden">{t('column.mode')}</Th>
              <Th className="max-lg:hidden">{t('column.location')}</Th>
            </tr>
          </THead>
          <TBody ref={body}>
            {rows.map((row, index) => (
              <ModelRow key={row.name} row={row} cursor={index === cursor} />
            ))}
          </TBody>
        </Table>
      </TableFrame>
    </Card>
  );
}

/** The row at the keyboard cursor, and the keys that move the cursor. */
function useCursor(rows: readonly ListedModel[]) {
  const { t } = useTranslation('models');
  const router = useRouter();
  const [cursor, setCursor] = useState(-1);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => body.current?.children[cursor]?.scrollIntoView({ block: 'nearest' }), [cursor]);
  const walk = (step: number) => setCursor((at) => Math.max(0, Math.min(rows.length - 1, at + step)));
  useKeys([
    { key: 'j', label: t('keys.next'), run: () => walk(1) },
    { key: 'k', label: t('keys.previous'), run: () => walk(-1) },
    {
      key: 'Enter',
      label: t('keys.open'),
      run: (event) => {
        const row = rows[cursor];
        if (!row || (event.target instanceof Element && event.target.closest('a, button'))) return;
        router.push(modelHref(row.name));
      },
    },
  ]);
  return { cursor, body };
}

function ModelRow({ row, cursor }: { row: ListedModel; cursor: boolean }) {
  const { t } = useTranslation('models');
  const { name, machines, controllers, availabilitySetsEnabled, location, health } = row;
  const needs = needsOf(row);
  return (
    <Tr cursor={cursor} className="relative">
      <Td className="max-w-72 py-1.5">
        <Link
          href={modelHref(name)}
          prefetch={false}
          translate="no"
          className="block truncate font-medium after:absolute after:inset-0 focus-visible:shadow-none focus-visible:after:shadow-(--focus)"
        >
          {name}
        </Link>
        <span className="mt-1 block whitespace-normal sm:hidden">
          <ModelNeeds needs={needs} />
        </span>
      </Td>
      <Td end className="text-ink-2 tabular-nums">
        {machines === 0 ? (
          <span className="text-ink-3">{t('list.noMachines')}</span>
        ) : (
          <Link
            href={placeHref({ model: name })}
            prefetch={false}
            data-count={machines}
            className="relative z-1 hover:underline"
          >
            {t('list.machines', { count: machines })}
          </Link>
        )}
        {controllers === 0 ? null : (
          <Chip className="ms-2 max-lg:hidden">{t('list.controllers', { count: controllers })}</Chip>
        )}
      </Td>
      <Td className="max-md:hidden">
        <HealthCounts of={{ model: name }} health={health} />
      </Td>
      <Td className="whitespace-normal max-sm:hidden">
        <ModelNeeds needs={needs} />
      </Td>
      <Td className="text-ink-2 max-lg:hidden">{t(availabilitySetsEnabled ? 'mode.on' : 'mode.off')}</Td>
      <Td translate="no" className="max-w-40 truncate text-ink-2 max-lg:hidden">
        {location}
      </Td>
    </Tr>
  );
}
