'use client';

import Link from 'next/link';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { RowLink } from '#app/_ui/row-link.tsx';
import { Status } from '#app/_ui/status.tsx';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { endpointText, type NamedEndpoint } from './endpoint-pairs.ts';
import { relationHref, type ShownRelation, serviceHref } from './service-data.ts';

export interface RelationTableProps {
  model: string;
  relations: readonly ShownRelation[];
}

/** The relations of a model by number, or of one service. */
export function RelationTable({ model, relations }: RelationTableProps) {
  const { t } = useTranslation('services');
  return (
    <TableFrame label={t('model.relations')}>
      <Table>
        <THead>
          <tr>
            <Th end className="w-12">
              {t('column.number')}
            </Th>
            <Th className="max-sm:w-full">{t('column.requires')}</Th>
            <Th className="max-md:hidden">{t('column.interface')}</Th>
            <Th className="max-sm:hidden">{t('column.provides')}</Th>
            <Th className="w-1/4 max-sm:hidden">{t('column.state')}</Th>
            <Th end className="max-md:hidden">
              {t('column.changed')}
            </Th>
          </tr>
        </THead>
        <TBody>
          {relations.map((relation) => (
            <RelationRow key={relation.number} model={model} relation={relation} />
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

function RelationRow({ model, relation }: { model: string; relation: ShownRelation }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const { number, movedAt, endpoints, life } = relation;
  const label = t('relations.open', {
    number: format.number(number),
    endpoints: endpoints.map(endpointText).join(', '),
  });
  return (
    <Tr className="relative" leaving={life !== 'alive'}>
      <Td end className="text-ink-3 tabular-nums">
        <RowLink href={relationHref(model, number)} prefetch={false} aria-label={label} className="font-normal">
          {format.number(number)}
        </RowLink>
      </Td>
      <Td className="max-w-64 truncate py-1.5">
        <Endpoint model={model} endpoint={sidesOf(relation).requires} />
        <span className="block text-12 sm:hidden">
          <Other model={model} relation={relation} />
        </span>
        <span className="mt-1 block text-12 whitespace-normal sm:hidden">
          <RelationStatus relation={relation} />
        </span>
      </Td>
      <Td translate="no" className="mono text-ink-2 max-md:hidden">
        {relation.interface}
      </Td>
      <Td className="max-w-64 truncate max-sm:hidden">
        <Other model={model} relation={relation} />
      </Td>
      <Td className="max-sm:hidden">
        <RelationStatus relation={relation} />
      </Td>
      <Td end className="text-ink-2 max-md:hidden">
        <RelativeTime value={new Date(movedAt)} />
      </Td>
    </Tr>
  );
}

/** Returns the service that requires and the one that provides; for a relation among its own units, the service. */
function sidesOf({ endpoints }: ShownRelation): { requires: NamedEndpoint; provides: NamedEndpoint | null } {
  const none = { service: '', name: '' };
  const requires = endpoints.find(({ side }) => side === 'requires') ?? endpoints[0] ?? none;
  return { requires, provides: endpoints.find(({ side }) => side === 'provides') ?? null };
}

function Other({ model, relation }: { model: string; relation: ShownRelation }): ReactNode {
  const { t } = useTranslation('services');
  const { provides } = sidesOf(relation);
  return provides === null ? (
    <span className="text-ink-3">{t('relations.peers')}</span>
  ) : (
    <Endpoint model={model} endpoint={provides} />
  );
}

function Endpoint({ model, endpoint }: { model: string; endpoint: NamedEndpoint }) {
  return (
    <Link
      href={serviceHref(model, endpoint.service)}
      prefetch={false}
      translate="no"
      className="relative z-1 rounded-xs font-medium hover:underline max-sm:inline-flex max-sm:min-h-6 max-sm:items-center"
    >
      {endpointText(endpoint)}
    </Link>
  );
}

const statusOfRelation: Readonly<Record<ShownRelation['state'], StatusName>> = {
  settled: 'healthy',
  behind: 'progressing',
  failing: 'failed',
  ending: 'progressing',
  ended: 'disabled',
};

/** The state of a relation, with how many of its units are behind or fail. */
export function RelationStatus({ relation: { state, units, behind, failing } }: { relation: ShownRelation }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const count = state === 'failing' ? failing : behind;
  const word = units === 0 && state === 'settled' ? 'empty' : state;
  return (
    <Status status={word === 'empty' ? 'waiting' : statusOfRelation[state]}>
      {t(`relationState.${word}`, { count, all: format.number(units) })}
    </Status>
  );
}
