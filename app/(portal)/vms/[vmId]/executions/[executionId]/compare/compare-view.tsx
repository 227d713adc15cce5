'use client';

import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { Duration } from '#app/(portal)/executions/duration.tsx';
import {
  type ComparedExecutions,
  executionHref,
  type ShownExecution,
  tookMs,
} from '#app/(portal)/executions/execution-data.ts';
import { ExecutionName, ExecutionState, Outcome } from '#app/(portal)/executions/execution-name.tsx';
import { readable } from '../../plan-text.ts';
import { ComparedCalls } from './compared-calls.tsx';
import { differsNowhere } from './differs-nowhere.ts';
import { sortedJson } from './sorted-json.ts';

const TextDiff = dynamic(() =>
  import('#app/(portal)/handlers/[handler]/compare/text-diff.tsx').then((module) => module.TextDiff),
);

export interface ComparedExecutionsProps {
  first: ComparedExecutions;
  /** Executions of the VM that the reader can choose. */
  others: readonly ShownExecution[];
}

/** Compares the outcomes, results, calls and plans of two executions. */
export function CompareView({ first, others }: ComparedExecutionsProps) {
  const { t } = useTranslation('executions');
  const { before, after, results, plans, calls } = first;
  return (
    <>
      <PageHeader title={t('compare.title')} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <Card>
          <CardHeader
            title={t('compare.executions')}
            note={differsNowhere(first) ? t('compare.nothingDiffers') : undefined}
            actions={<OtherChoice {...{ before, after, others }} />}
          />
          <Outcomes before={before} after={after} />
        </Card>
        <Difference
          title={t('result.title')}
          same={t(results.before === null && results.after === null ? 'compare.noResult' : 'compare.sameResult')}
          before={bodyOf(results.before)}
          after={bodyOf(results.after)}
        />
        <Card>
          <CardHeader title={t('calls.title')} note={t('compare.calls.note')} />
          <ComparedCalls before={before} after={after} calls={calls} />
        </Card>
        <Difference
          title={t('plan.title')}
          same={t('compare.samePlan')}
          before={plans === null ? '' : readable(plans.before)}
          after={plans === null ? '' : readable(plans.after)}
        />
      </div>
    </>
  );
}

/** Returns the Body of a result as lines to compare, or an empty text if there is no result. */
function bodyOf(result: string | null): string {
  if (result === null) return '';
  const { Body: body = null } = JSON.parse(result) as { Body?: unknown };
  return typeof body === 'string' ? body : sortedJson(body);
}

function OtherChoice({
  before,
  after,
  others,
}: Pick<ComparedExecutions, 'before' | 'after'> & Pick<ComparedExecutionsProps, 'others'>) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const router = useRouter();
  const choices = others.some(({ id }) => id === before.id) ? others : [before, ...others];
  return (
    <Field label={t('compare.with')} className="flex items-center gap-2 [&_label]:whitespace-nowrap">
      <Select
        value={before.id}
        onChange={(event) => router.push(`${executionHref(after)}/compare?with=${event.target.value}`)}
        options={choices.map(({ id, name, version, queuedAt, state }) => ({
          value: id,
          label: [
            `${name === '' ? t('unnamed') : name} ${version}`,
            `${format.dateTime(new Date(queuedAt), 'day')}, ${format.dateTime(new Date(queuedAt), 'time')}`,
            t(`state.${state}`),
          ].join(' · '),
        }))}
      />
    </Field>
  );
}

/** On a phone, the label of a row is above its two values, which are side by side. */
const narrow = [
  'max-sm:block max-sm:[&_thead]:block max-sm:[&_tbody]:block',
  'max-sm:[&_tr]:grid max-sm:[&_tr]:grid-cols-2 max-sm:[&_tr]:gap-x-3 max-sm:[&_tr]:border-b max-sm:[&_tr]:border-line-subtle max-sm:[&_tr]:px-4 max-sm:[&_tr]:py-1.5',
  'max-sm:[&_td]:h-auto max-sm:[&_td]:border-b-0 max-sm:[&_td]:px-0!',
].join(' ');

function Outcomes({ before, after }: Pick<ComparedExecutions, 'before' | 'after'>) {
  const { t } = useTranslation('executions');
  const rows: [label: string, of: (execution: ShownExecution) => ReactNode][] = [
    [t('column.state'), (execution) => <ExecutionState execution={execution} />],
    [t('column.outcome'), (execution) => <Outcome execution={execution} />],
    [t('column.vm'), ({ vmName }) => <span translate="no">{vmName}</span>],
    [t('column.queued'), ({ queuedAt }) => <QueuedAt at={new Date(queuedAt)} />],
    [t('column.by'), ({ queuedBy }) => <span translate="no">{queuedBy}</span>],
    [t('column.took'), (execution) => <Took execution={execution} />],
  ];
  return (
    <TableFrame label={t('compare.executions')}>
      <Table className={`table-fixed ${narrow}`}>
        <THead>
          <tr>
            <Th className="w-24 max-sm:hidden">
              <span className="sr-only">{t('compare.fact')}</span>
            </Th>
            {(
              [
                ['compare.before', before],
                ['compare.afterOwn', after],
              ] as const
            ).map(([word, execution]) => (
              <Th key={word} className="h-auto py-1.5 align-top whitespace-normal max-sm:border-0 max-sm:px-0!">
                <span className="block text-12 font-normal text-ink-2">{t(word)}</span>
                <ExecutionName execution={execution} />
              </Th>
            ))}
          </tr>
        </THead>
        <TBody>
          {rows.map(([label, of]) => (
            <Tr key={label}>
              <Td className="py-2 align-top text-ink-2 max-sm:col-span-full max-sm:py-0 max-sm:text-12">{label}</Td>
              {[before, after].map((execution) => (
                <Td key={execution.id} className="py-2 align-top whitespace-normal wrap-anywhere max-sm:py-0">
                  {of(execution)}
                </Td>
              ))}
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

/** A day and a time with seconds, because executions are often compared with one of the same minute. */
function QueuedAt({ at }: { at: Date }) {
  return (
    <>
      <DateTime value={at} style="day" />, <DateTime value={at} style="time" />
    </>
  );
}

function Took({ execution }: { execution: ShownExecution }) {
  const ms = tookMs(execution);
  return ms === null ? null : <Duration ms={ms} />;
}

interface DifferenceProps {
  title: string;
  /** Shown if the texts are equal. */
  same: string;
  before: string;
  after: string;
}

function Difference({ title, same, before, after }: DifferenceProps) {
  return (
    <Card>
      <CardHeader title={title} />
      {before === after ? (
        <p className="px-4 pb-4 text-12 text-ink-2">{same}</p>
      ) : (
        <TextDiff label={title} before={before} after={after} />
      )}
    </Card>
  );
}
