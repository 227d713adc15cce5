'use client';

import { useQuery } from '@tanstack/react-query';
import { SlidersHorizontal } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { DateTime, Elapsed } from '#app/_ui/time.tsx';
import { MessageBody } from '#app/(portal)/vms/[vmId]/message-body.tsx';
import { logOfRun, type RunLogName } from '../log-of-run.ts';
import { type NamedUnit, type ShownRunDetails, statusOfOutcome } from '../unit-data.ts';
import { HookFor } from './hook-for.tsx';
import { RunFacts } from './run-facts.tsx';
import { useDurationWords, useOutcomeWords } from './use-outcome-words.ts';

const LogCard = dynamic(() =>
  import('#app/(portal)/vms/[vmId]/executions/[executionId]/log/log-card.tsx').then((module) => module.LogCard),
);
const EnvironmentDialog = dynamic(() => import('./environment-dialog.tsx').then((module) => module.EnvironmentDialog), {
  ssr: false,
});

export interface RunDetailsProps {
  name: NamedUnit;
  run: string;
  /** The run that the server read at `readAt` (milliseconds since 1970). */
  first: ShownRunDetails | undefined;
  readAt: number;
}

/** A run of a hook: how it ended and why, what caused it, what it read and stored, and its output. */
export function RunDetails({ name, run: id, first, readAt }: RunDetailsProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.units.run.queryOptions({ ...name, run: id }),
    ...(first?.id === id && { initialData: first, initialDataUpdatedAt: readAt }),
    retry: false,
  });
  const { data: run, error, refetch } = query;
  if (run === undefined) {
    return error ? (
      <QueryError title={t('unit.run.failed')} error={error} onRetry={refetch} />
    ) : (
      <SkeletonRows columns={['w-40', 'w-24']} rows={6} label={t('unit.run.loading')} />
    );
  }
  return <Contents name={name} run={run} />;
}

function Contents({ name, run }: { name: NamedUnit; run: ShownRunDetails }) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  const log = useMemo<RunLogName>(() => ({ of: 'run', ...name, run: run.id }), [name, run.id]);
  return (
    <section aria-label={t('unit.run.label', { number: run.number, hook: run.hook })} className="min-w-0">
      <RunHead name={name} run={run} />
      <RunFacts name={name} run={run} />
      {may ? (
        <LogCard ref={null} log={logOfRun(log, run)} className="rounded-none border-t border-line-subtle shadow-none" />
      ) : (
        <p className="border-t border-line-subtle px-4 py-3 text-pretty text-ink-2">{t('unit.run.operatorsOnly')}</p>
      )}
    </section>
  );
}

function RunHead({ name, run }: { name: NamedUnit; run: ShownRunDetails }) {
  const { t } = useTranslation('services');
  const [isOpen, setOpen] = useState(false);
  const { hook, remoteUnit, number, attempt, begunAt, endedAt, formulaVersion, message } = run;
  return (
    <div className="px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <StatusIcon status={statusOfOutcome[run.outcome]} />
        <h3 className="min-w-0 font-semibold wrap-anywhere">
          <HookFor hook={hook} remoteUnit={remoteUnit} isStrong />
        </h3>
        <span className="text-ink-3 tabular-nums">
          {t('unit.run.number', { number })} · <Ended run={run} />
        </span>
        <Button size="sm" variant="ghost" className="ms-auto" onClick={() => setOpen(true)}>
          <SlidersHorizontal aria-hidden />
          {t('unit.act.environment')}
        </Button>
      </div>
      {message === null ? null : (
        <div className="mt-1 max-w-[100ch] text-pretty wrap-anywhere">
          <MessageBody message={message} marked />
        </div>
      )}
      <p className="mt-1 flex flex-wrap gap-x-4 text-12 text-ink-3 tabular-nums">
        {message?.id === undefined ? null : (
          <span translate="no">
            <span className="mono-11">{message.id}</span>
          </span>
        )}
        <span>{t('unit.runs.attempt', { n: attempt })}</span>
        <span>{t('unit.run.formula', { version: formulaVersion })}</span>
        <span>
          <DateTime value={new Date(begunAt)} style="short" />
          {endedAt === null ? null : (
            <>
              {' – '}
              <DateTime value={new Date(endedAt)} style="time" />
            </>
          )}
        </span>
      </p>
      {isOpen ? <EnvironmentDialog name={name} run={run} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}

/** How a run ended, and how long it took. */
function Ended({ run }: { run: ShownRunDetails }) {
  const { t } = useTranslation('services');
  const outcome = useOutcomeWords();
  const duration = useDurationWords();
  const { seconds, begunAt, refused, timeoutSeconds } = run;
  if (run.outcome === 'running') return <Elapsed value={new Date(begunAt)} />;
  if (run.outcome === 'refused' && refused !== null) {
    return t('unit.run.refused', { why: t(`unit.refused.${refused as 'port_conflict'}`) });
  }
  if (run.outcome === 'timed-out') return t('unit.run.timedOut', { time: duration(timeoutSeconds) });
  return run.outcome === 'succeeded' || seconds === null
    ? outcome(run)
    : t('unit.run.after', { outcome: outcome(run), time: duration(seconds) });
}
