'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { type MemberKind, memberKinds } from '#server/domain/rollout-rules/words.ts';
import type { PlanView } from '#server/domain/rollouts/index.ts';
import type { PlanCell } from './plan-vms.tsx';

const PlanVms = dynamic(() => import('./plan-vms.tsx').then((module) => module.PlanVms), { ssr: false });

/** The plan as a table of rings and kinds. Each number opens its VMs. */
export function PlanTable({ plan, rolloutId }: { plan: PlanView; rolloutId: string }) {
  const { t } = useTranslation('rollouts');
  const [open, setOpen] = useState<PlanCell | null>(null);
  const kinds = memberKinds.filter((kind) => (plan.kinds[kind] ?? 0) > 0);
  return (
    <>
      <TableFrame label={t('new.plan.table')} className="-mx-4 border-y border-line-subtle">
        <Table className="tabular-nums">
          <Head kinds={kinds} />
          <TBody>
            {plan.rings.map((ring, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rings have no id, and their names can repeat
              <RingRow key={index} ring={ring} index={index} kinds={kinds} onOpen={setOpen} />
            ))}
            <TotalRow plan={plan} kinds={kinds} onOpen={setOpen} />
          </TBody>
        </Table>
      </TableFrame>
      {open === null ? null : (
        <PlanVms
          rolloutId={rolloutId}
          rings={plan.rings.map(({ name }) => name)}
          at={open}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

const columns = ['vms', 'inFlight', 'bytes', 'restarts', 'silent', 'sets'] as const;
/** Columns that do not apply to a runbook. */
const ofPackages: readonly (typeof columns)[number][] = ['bytes', 'restarts'];
const isRunOnly = (kinds: readonly MemberKind[]): boolean => kinds.includes('run');

function Head({ kinds }: { kinds: readonly MemberKind[] }) {
  const { t } = useTranslation('rollouts');
  return (
    <THead>
      <tr>
        <Th>{t('new.plan.ring')}</Th>
        {kinds.map((kind) => (
          <Th key={kind} end>
            {t(`new.plan.kind.${kind}`)}
          </Th>
        ))}
        {columns
          .filter((column) => !isRunOnly(kinds) || !ofPackages.includes(column))
          .map((column) => (
            <Th key={column} end>
              {t(`new.plan.${column}`)}
            </Th>
          ))}
      </tr>
    </THead>
  );
}

interface RowProps {
  kinds: readonly MemberKind[];
  onOpen(at: PlanCell): void;
}

/** A number of VMs, which opens them. */
function VmCount({ count, at, onOpen }: { count: number; at: PlanCell; onOpen: RowProps['onOpen'] }) {
  const format = useFormat();
  if (count === 0) return <span className="text-ink-3">0</span>;
  return (
    <button
      type="button"
      onClick={() => onOpen(at)}
      className="rounded-xs font-medium underline decoration-line-control underline-offset-3 hover:decoration-current"
    >
      {format.number(count)}
    </button>
  );
}

function RingRow({ ring, index, kinds, onOpen }: RowProps & { ring: PlanView['rings'][number]; index: number }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { touched, longest } = ring.sets;
  return (
    <Tr>
      <Td translate="no" className="font-medium whitespace-normal">
        <span className="block w-max max-w-52 wrap-anywhere">{ring.name}</span>
      </Td>
      {kinds.map((kind) => (
        <Td key={kind} end>
          <VmCount count={ring.kinds[kind] ?? 0} at={{ ring: index, kind }} onOpen={onOpen} />
        </Td>
      ))}
      <Td end>
        <VmCount count={ring.size} at={{ ring: index, kind: null }} onOpen={onOpen} />
      </Td>
      <Td end>{format.number(ring.inFlight)}</Td>
      {isRunOnly(kinds) ? null : (
        <>
          <Td end>{ring.bytes === 0 ? '–' : format.bytes(ring.bytes)}</Td>
          <Td end>{format.number(ring.restarts)}</Td>
        </>
      )}
      <Td end>{format.number(ring.silent)}</Td>
      <Td end>
        {touched === 0
          ? '–'
          : t('new.plan.setsOf', { touched: format.number(touched), longest: format.number(longest) })}
      </Td>
    </Tr>
  );
}

function TotalRow({ plan, kinds, onOpen }: RowProps & { plan: PlanView }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const sum = (of: (ring: PlanView['rings'][number]) => number) => plan.rings.reduce((all, ring) => all + of(ring), 0);
  const bytes = sum((ring) => ring.bytes);
  return (
    <Tr className="bg-sunken font-semibold">
      <Td>{t('new.plan.total')}</Td>
      {kinds.map((kind) => (
        <Td key={kind} end>
          <VmCount count={plan.kinds[kind] ?? 0} at={{ ring: null, kind }} onOpen={onOpen} />
        </Td>
      ))}
      <Td end>
        <VmCount count={plan.members} at={{ ring: null, kind: null }} onOpen={onOpen} />
      </Td>
      <Td />
      {isRunOnly(kinds) ? null : (
        <>
          <Td end>{bytes === 0 ? '–' : format.bytes(bytes)}</Td>
          <Td end>{format.number(sum(({ restarts }) => restarts))}</Td>
        </>
      )}
      <Td end>{format.number(sum(({ silent }) => silent))}</Td>
      <Td />
    </Tr>
  );
}
