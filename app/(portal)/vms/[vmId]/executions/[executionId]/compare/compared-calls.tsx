'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Status } from '#app/_ui/status.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Duration } from '#app/(portal)/executions/duration.tsx';
import { type ComparedExecutions, type ShownCall, statusOfCall } from '#app/(portal)/executions/execution-data.ts';
import { callName } from '../call-name.ts';

const TextDiff = dynamic(() =>
  import('#app/(portal)/handlers/[handler]/compare/text-diff.tsx').then((module) => module.TextDiff),
);

type Pair = ComparedExecutions['calls'][number];
type Both = Pick<ComparedExecutions, 'before' | 'after'>;

/** On a phone, a row has several lines: the call, its two states side by side, and the button. */
const narrow = [
  'max-sm:block max-sm:[&_tbody]:block max-sm:[&_thead]:sr-only',
  'max-sm:[&_tr]:grid max-sm:[&_tr]:grid-cols-2 max-sm:[&_tr]:gap-x-3 max-sm:[&_tr]:gap-y-1.5 max-sm:[&_tr]:border-t max-sm:[&_tr]:border-line-subtle max-sm:[&_tr]:px-4 max-sm:[&_tr]:py-2',
  'max-sm:[&_td]:h-auto max-sm:[&_td]:border-b-0 max-sm:[&_td]:px-0! max-sm:[&_td]:text-start max-sm:[&_td]:whitespace-normal',
].join(' ');

/** Lists the calls of two executions in pairs. The output of a pair is loaded when the reader opens the pair. */
export function ComparedCalls({ before, after, calls }: Pick<ComparedExecutions, 'before' | 'after' | 'calls'>) {
  const { t } = useTranslation('executions');
  if (calls.length === 0) return <p className="px-4 pb-4 text-12 text-ink-2">{t('calls.none')}</p>;
  return (
    <TableFrame label={t('calls.title')}>
      <Table className={narrow}>
        <THead>
          <tr>
            <Th>{t('compare.call')}</Th>
            <Th>{t('compare.before')}</Th>
            <Th>{t('compare.after')}</Th>
            <Th end>{t('compare.output')}</Th>
          </tr>
        </THead>
        <TBody>
          {calls.map((pair) => (
            <PairRow key={`${pair.before?.n}-${pair.after?.n}`} pair={pair} executions={{ before, after }} />
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

function PairRow({ pair, executions }: { pair: Pair; executions: Both }) {
  const { t } = useTranslation('executions');
  const [isOpen, setOpen] = useState(false);
  const { before, after } = pair;
  const call = after ?? before;
  return (
    <>
      <Tr>
        <Td className="max-sm:col-span-full">
          <code translate="no" className="mono wrap-anywhere">
            {call === null ? '' : callName(call)}
          </code>
        </Td>
        <Td>
          <span className="block text-12 text-ink-3 sm:hidden">{t('compare.before')}</span>
          {before === null ? <NoCall /> : <CallState call={before} />}
        </Td>
        <Td>
          <span className="block text-12 text-ink-3 sm:hidden">{t('compare.after')}</span>
          {after === null ? <NoCall /> : <CallState call={after} />}
        </Td>
        <Td end className="max-sm:col-span-full max-sm:empty:hidden">
          {before === null || after === null ? null : (
            <Button size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {t(isOpen ? 'compare.hide' : 'compare.show')}
            </Button>
          )}
        </Td>
      </Tr>
      {isOpen && before !== null && after !== null ? (
        <tr>
          <td colSpan={4} className="max-w-0 border-b border-line-subtle pt-2 max-sm:col-span-full max-sm:max-w-none">
            <OutputDifference before={before} after={after} executions={executions} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function NoCall() {
  const { t } = useTranslation('executions');
  return <span className="text-ink-2">{t('compare.noCall')}</span>;
}

function CallState({ call: { state, exitCode, tookMs } }: { call: ShownCall }) {
  const { t } = useTranslation('executions');
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Status status={statusOfCall[state]}>{t(`call.${state}`)}</Status>
      <span className="text-12 text-ink-2 tabular-nums">
        {tookMs === null ? null : <Duration ms={tookMs} />}
        {exitCode === null || exitCode === 0 ? null : ` · ${t('calls.exit', { exit: exitCode })}`}
      </span>
    </span>
  );
}

/** Ends a text with a line break, because a line without one would differ from the same line with one. */
const wholeLines = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

function OutputDifference({ before, after, executions }: { before: ShownCall; after: ShownCall; executions: Both }) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const trpc = useTRPC();
  const about = (execution: Both['before'], { n }: ShownCall) => ({
    vmId: execution.vmId,
    executionId: execution.id,
    n,
  });
  const compared = useQuery(
    trpc.executions.compareCall.queryOptions({
      before: about(executions.before, before),
      after: about(executions.after, after),
    }),
  );
  if (compared.error && !compared.data) return <QueryError error={compared.error} onRetry={compared.refetch} />;
  if (compared.isPending) return <SkeletonRows columns={['w-64']} rows={3} label={t('loading')} />;
  const { firstLine, texts } = compared.data;
  if (texts !== null)
    return <TextDiff label={t('compare.output')} before={wholeLines(texts.before)} after={wholeLines(texts.after)} />;
  return (
    <p className="px-4 pb-4 text-12 text-ink-2">
      {firstLine === null ? t('compare.sameOutput') : t('compare.firstLine', { n: format.number(firstLine) })}
    </p>
  );
}
