'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Duration, RunningFor } from '#app/(portal)/executions/duration.tsx';
import {
  hasEnded,
  type ShownCall,
  type ShownExecutionDetails,
  statusOfCall,
} from '#app/(portal)/executions/execution-data.ts';
import { knownOf } from '#app/(portal)/executions/shown-state.ts';
import { callName } from './call-name.ts';

const shownAtFirst = 200;

export interface CallsCardProps {
  execution: ShownExecutionDetails;
  /** The number of the call that the reader opened last. */
  current: number | null;
  onOpen(call: ShownCall): void;
}

/** The calls of the Body. A click shows the lines of a call in the log. */
export function CallsCard({ execution, current, onOpen }: CallsCardProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const [isWhole, setWhole] = useState(false);
  const { calls, begunAt } = execution;
  const failed = calls.filter(({ state }) => state === 'failed').length;
  const counts = [
    t('calls.count', { count: calls.length, n: format.number(calls.length) }),
    failed === 0 ? null : t('calls.failed', { n: format.number(failed) }),
  ].filter((part) => part !== null);
  const shown = isWhole ? calls : calls.slice(0, shownAtFirst);
  return (
    <Card>
      <CardHeader title={t('calls.title')} note={calls.length === 0 ? undefined : counts.join(' · ')} />
      {calls.length === 0 ? (
        <p className="px-4 pb-4 text-12 text-pretty text-ink-2">{t(wordForNone(execution))}</p>
      ) : (
        <ol className="max-h-[38rem] overflow-y-auto px-2 pb-2">
          {shown.map((call) => (
            <li key={call.n}>
              <CallRow
                call={call}
                begunAt={hasEnded(execution) ? null : begunAt}
                isRestarting={execution.state === 'restarting'}
                isCurrent={call.n === current}
                onOpen={onOpen}
              />
            </li>
          ))}
        </ol>
      )}
      {shown.length < calls.length ? (
        <div className="border-t border-line-subtle p-2">
          <Button variant="ghost" size="sm" onClick={() => setWhole(true)}>
            {t('calls.all', { n: format.number(calls.length) })}
          </Button>
        </div>
      ) : null}
    </Card>
  );
}

/** Returns the text for an execution without calls. */
function wordForNone(execution: ShownExecutionDetails) {
  if (!hasEnded(execution)) return execution.begunAt === null ? 'calls.later' : 'calls.noneYet';
  const known = knownOf(execution);
  if (known === 'all') return execution.begunAt === null ? 'calls.notBegun' : 'calls.none';
  return known === 'unknown' ? 'calls.unknown' : 'calls.nothingRan';
}

interface CallRowProps {
  call: ShownCall;
  /** When the Body began; null if the execution has ended, because no call is running any longer. */
  begunAt: string | null;
  /** Whether the machine is restarting, so that no call is running. */
  isRestarting: boolean;
  isCurrent: boolean;
  onOpen(call: ShownCall): void;
}

function CallRow({ call, begunAt, isRestarting, isCurrent, onOpen }: CallRowProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const { n, state, row, untilRow, atMs, tookMs, exitCode, fromJournal } = call;
  const lines = untilRow === null ? null : Math.max(0, untilRow - row - 1);
  const isCut = state === 'running' && begunAt === null;
  const isPaused = state === 'running' && isRestarting;
  const facts = [
    lines === null
      ? t(isCut ? 'calls.cut' : isPaused ? 'calls.restarting' : 'calls.running')
      : t('calls.lines', { count: lines, n: format.number(lines) }),
    exitCode === null || exitCode === 0 ? null : t('calls.exit', { exit: exitCode }),
    fromJournal ? t('calls.journal') : null,
  ].filter((fact) => fact !== null);
  return (
    <button
      type="button"
      onClick={() => onOpen(call)}
      aria-current={isCurrent || undefined}
      className="grid w-full grid-cols-[14px_1.5rem_minmax(0,1fr)_auto] items-baseline gap-x-2 rounded-md px-2 py-1.5 text-start hover:bg-hover aria-[current]:bg-press"
    >
      <StatusIcon
        status={isCut ? 'unknown' : isPaused ? 'waiting' : statusOfCall[state]}
        label={isCut ? t('call.cut') : isPaused ? t('call.restarting') : t(`call.${state}`)}
        className="translate-y-0.5"
      />
      <span className="text-end text-12 text-ink-3 tabular-nums">{n}</span>
      <code translate="no" className="mono wrap-anywhere">
        {callName(call)}
      </code>
      <span className="text-12 text-ink-2 tabular-nums">
        {tookMs !== null ? (
          <Duration ms={tookMs} />
        ) : begunAt !== null && state === 'running' && !isPaused ? (
          <RunningFor since={new Date(Date.parse(begunAt) + atMs).toISOString()} />
        ) : null}
      </span>
      <span className="col-start-3 col-end-5 text-12 text-ink-2">{facts.join(' · ')}</span>
    </button>
  );
}
