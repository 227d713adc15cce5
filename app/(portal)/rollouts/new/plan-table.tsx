'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { type MemberKind, memberKinds } from '#server/domain/rollout-rules/words.ts';
import type { PlanView } from '#server/domain/rollouts/answers.ts';

const PlanVms = dynamic(() => import('./plan-vms.tsx').then((module) => module.PlanVms), { ssr: false });

/** Members of one ring and kind; null for all. */
export interface PlanCell {
  ring: number | null;
  kind: MemberKind | null;
}

/** The plan as a table of rings and kinds. Each number opens its VMs. */
export function PlanTable({ plan, rolloutId }: { plan: PlanView; rolloutId: string }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const [open, setOpen] = useState<PlanCell | null>(null);
  const kinds = memberKinds.filter((kind) => (plan.kinds[kind] ?? 0) > 0);
  const cell = (count: number, at: PlanCell) =>
    count === 0 ? (
      <span className="text-ink-3">0</span>
    ) : (
      <button
        type="button"
        onClick={() => setOpen(at)}
        className="rounded-xs font-medium underline decoration-line-control underline-offset-3 hover:decoration-current"
      >
        {format.number(count)}
      </button>
    );
  const sum = (of: (ring: PlanView['rings'][number]) => number) => plan.rings.reduce((all, ring) => all + of(ring), 0);
  return (
    <>
      <TableFrame label={t('new.plan')} className="-mx-4 border-y border-line-subtle">
        <Table className="tabular-nums">
          <THead>
            <tr>
              <Th>{t('new.plan.ring')}</Th>
              {kinds.map((kind) => (
                <Th key={kind} end>
                  {t(`new.plan.kind.${kind}`)}
                </Th>
              ))}
              <Th end>{t('new.plan.vms')}</Th>
              <Th end>{t('new.plan.inFlight')}</Th>
              <Th end>{t('new.plan.bytes')}</Th>
              <Th end>{t('new.plan.restarts')}</Th>
              <Th end>{t('new.plan.silent')}</Th>
              <Th end>{t('new.plan.sets')}</Th>
            </tr>
          </THead>
          <TBody>
            {plan.rings.map((ring, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rings have no id, and their names can repeat
              <Tr key={index}>
                <Td translate="no" className="max-w-52 font-medium whitespace-normal wrap-anywhere">
                  {ring.name}
                </Td>
                {kinds.map((kind) => (
                  <Td key={kind} end>
                    {cell(ring.kinds[kind] ?? 0, { ring: index, kind })}
                  </Td>
                ))}
                <Td end>{cell(ring.size, { ring: index, kind: null })}</Td>
                <Td end>{format.number(ring.inFlight)}</Td>
                <Td end>{ring.bytes === 0 ? '–' : format.bytes(ring.bytes)}</Td>
                <Td end>{format.number(ring.restarts)}</Td>
                <Td end>{format.number(ring.silent)}</Td>
                <Td end>
                  {ring.sets.touched === 0
                    ? '–'
                    : t('new.plan.setsOf', {
                        touched: format.number(ring.sets.touched),
                        longest: format.number(ring.sets.longest),
                      })}
                </Td>
              </Tr>
            ))}
            <Tr className="bg-sunken font-semibold">
              <Td>{t('new.plan.total')}</Td>
              {kinds.map((kind) => (
                <Td key={kind} end>
                  {cell(plan.kinds[kind] ?? 0, { ring: null, kind })}
                </Td>
              ))}
              <Td end>{cell(plan.members, { ring: null, kind: null })}</Td>
              <Td />
              <Td end>{sum(({ bytes }) => bytes) === 0 ? '–' : format.bytes(sum(({ bytes }) => bytes))}</Td>
              <Td end>{format.number(sum(({ restarts }) => restarts))}</Td>
              <Td end>{format.number(sum(({ silent }) => silent))}</Td>
              <Td />
            </Tr>
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
