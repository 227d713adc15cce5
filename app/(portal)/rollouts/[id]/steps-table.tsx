'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRowKeys } from '#app/_lib/use-row-keys.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Status } from '#app/_ui/status.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { executionHref } from '#app/(portal)/executions/execution-data.ts';
import { type ShownRollout, type ShownStep, statusOfStep } from '../rollout-data.ts';
import { useCauseWords } from './use-cause-words.ts';

export interface StepsTableProps {
  rings: ShownRollout['rings'];
  steps: readonly ShownStep[];
}

const hrefOf = ({ vmId }: ShownStep): string => `/vms/${vmId}`;

/** VMs with their ring, state and cause. `j` and `k` move the selection, and Enter opens the VM. */
export function StepsTable({ rings, steps }: StepsTableProps) {
  const { t } = useTranslation('rollouts');
  const { cursor, list } = useRowKeys<HTMLTableSectionElement>({
    hrefs: steps.map(hrefOf),
    labels: { next: t('live.keys.next'), previous: t('live.keys.previous'), open: t('live.keys.open') },
  });
  const isRun = steps[0]?.kind === 'run';
  return (
    <TableFrame label={t('live.steps.table')}>
      <Table>
        <THead>
          <tr>
            <Th>{t('live.steps.vm')}</Th>
            <Th className="max-sm:hidden">{t('live.steps.ring')}</Th>
            <Th>{t('live.steps.state')}</Th>
            <Th className="max-md:hidden">{t('live.steps.cause')}</Th>
            <Th className="max-sm:hidden">{t(isRun ? 'live.steps.execution' : 'live.steps.version')}</Th>
            <Th end className="max-sm:hidden">
              {t('live.steps.since')}
            </Th>
          </tr>
        </THead>
        <TBody ref={list}>
          {steps.map((step) => (
            <StepRow
              key={step.vmId}
              step={step}
              ring={rings[step.ring]?.name ?? ''}
              isCursor={hrefOf(step) === cursor}
            />
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

function StepRow({ step, ring, isCursor }: { step: ShownStep; ring: string; isCursor: boolean }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const since = step.decidedAt ?? step.healthyAt ?? step.publishedAt;
  return (
    <Tr cursor={isCursor}>
      <Td className="py-1.5 whitespace-normal">
        <Link
          href={hrefOf(step)}
          prefetch={false}
          translate="no"
          className="rounded-xs font-medium wrap-anywhere underline decoration-line underline-offset-3 hover:decoration-current"
        >
          {step.name}
        </Link>
        <span className="block text-12 text-ink-3 md:hidden">
          <StepCause step={step} />
        </span>
      </Td>
      <Td className="tabular-nums max-sm:hidden">
        <span translate="no">{ring}</span>, {format.number(step.place + 1)}
      </Td>
      <Td>
        <Status status={statusOfStep[step.state]}>{t(`step.${step.state}`)}</Status>
      </Td>
      <Td className="py-1.5 whitespace-normal text-ink-2 max-md:hidden">
        <StepCause step={step} />
      </Td>
      <Td className="text-12 tabular-nums max-sm:hidden">
        {step.executionId === null ? <Versions step={step} /> : <ExecutionLink step={step} id={step.executionId} />}
      </Td>
      <Td end className="tabular-nums max-sm:hidden">
        {since === null ? null : <DateTime value={new Date(since)} />}
      </Td>
    </Tr>
  );
}

function StepCause({ step: { cause, failure, kind, movedTo, overtakenBy, attempt } }: { step: ShownStep }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const words = useCauseWords(kind === 'run');
  const parts = [
    ...(cause === null ? [] : [words(cause, failure)]),
    ...(movedTo === null ? [] : [`${t(`new.plan.kind.${kind}`)} → ${t(`new.plan.kind.${movedTo}`)}`]),
    ...(overtakenBy === null
      ? []
      : [t('live.steps.overtaken', { by: overtakenBy.by, at: format.dateTime(new Date(overtakenBy.at), 'short') })]),
    ...(attempt > 1 ? [t('live.steps.attempt', { count: attempt })] : []),
  ];
  return <span className="wrap-anywhere">{parts.join(' · ')}</span>;
}

function ExecutionLink({ step: { vmId, name }, id }: { step: ShownStep; id: string }) {
  const { t } = useTranslation('rollouts');
  return (
    <TextLink href={executionHref({ vmId, id })} aria-label={t('live.steps.executionOf', { name })}>
      {t('live.steps.execution')}
    </TextLink>
  );
}

/** The version before and after the step, of each extension that the step touched. */
function Versions({ step: { before, after } }: { step: ShownStep }) {
  return after.extensions.map(({ name, version }) => {
    const old = before.extensions.find((extension) => extension.name === name)?.version ?? null;
    const shown = old === version || old === null ? (version ?? '–') : `${old} → ${version ?? '–'}`;
    return (
      <span key={name} title={name} translate="no" className="mono block text-12">
        {shown}
      </span>
    );
  });
}
