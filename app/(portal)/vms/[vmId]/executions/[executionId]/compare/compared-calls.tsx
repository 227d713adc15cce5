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

/** Lists the calls of two executions in pairs. The output of a pair is loaded when the reader opens the pair. */
export function ComparedCalls({ before, after, calls }: Pick<ComparedExecutions, 'before' | 'after' | 'calls'>) {
  const { t } = useTranslation('executions');
  if (calls.length === 0) return <p className="px-4 pb-4 text-12 text-ink-2">{t('calls.none')}</p>;
  return (
    <TableFrame label={t('calls.title')}>
      <Table>
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
        <Td>
          <code translate="no" className="mono wrap-anywhere">
            {call === null ? '' : callName(call)}
          </code>
        </Td>
        <Td>{before === null ? <NoCall /> : <CallState call={before} />}</Td>
        <Td>{after === null ? <NoCall /> : <CallState call={after} />}</Td>
        <Td end>
          {before === null || after === null ? null : (
            <Button size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {t('compare.show')}
            </Button>
          )}
        </Td>
      </Tr>
      {isOpen && before !== null && after !== null ? (
        <tr>
          <td colSpan={4} className="max-w-0 border-b border-line-subtle pt-2">
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
  if (texts !== null) return <TextDiff label={t('compare.output')} before={texts.before} after={texts.after} />;
  return (
    <p className="px-4 pb-4 text-12 text-ink-2">
      {firstLine === null ? t('compare.sameOutput') : t('compare.firstLine', { n: format.number(firstLine) })}
    </p>
  );
}
