'use client';

import { useQuery } from '@tanstack/react-query';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Status } from '#app/_ui/status.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { type ConductorReport, conductorMs, conductorProblem } from '#app/(portal)/executions/conductor.ts';
import { VariableNames } from '#app/(portal)/executions/variable-names.tsx';
import { Row, Rows } from '../account/rows.tsx';

export interface BrokerCardProps {
  /** The state that the server rendered at `readAt` (milliseconds since 1970). */
  first: ConductorReport | null;
  readAt: number;
}

/** The connection to the AMQP broker, kept up to date. The broker is configured with environment variables. */
export function BrokerCard({ first, readAt }: BrokerCardProps) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const conductor = useQuery({
    ...trpc.executions.conductor.queryOptions(),
    ...{ initialData: first, initialDataUpdatedAt: readAt, refetchInterval: conductorMs },
  });
  const report = conductor.data;
  // A conductor that has stopped is a problem only while VMs depend on it.
  const isSetUp = report !== null && (report.isRunning || report.boundVms > 0);
  return (
    <Card>
      {conductor.error === null ? null : <QueryError error={conductor.error} onRetry={conductor.refetch} />}
      {isSetUp ? (
        <>
          <CardHeader title={t('amqp.broker')} note={t('provider.note')} />
          <Connection report={report} />
        </>
      ) : (
        <EmptyState title={t('amqp.none')}>
          <p className="text-pretty">
            <Trans text={t('amqp.none.why')} tags={{ code: <code className="mono" /> }} />
          </p>
          <CopyCommand
            whole
            command="ANNEX_AMQP_URL=amqps://name:password@broker.example.net:5671/%2F"
            className="max-w-[72ch]"
          />
        </EmptyState>
      )}
    </Card>
  );
}

const statuses = {
  connected: 'healthy',
  connecting: 'progressing',
  disconnected: 'failed',
  stopped: 'failed',
} as const;

const stateWithout = (connectedAt: Date | null) => (connectedAt === null ? 'connecting' : 'connected');

function Connection({ report }: { report: ConductorReport }) {
  const { t } = useTranslation(['settings', 'executions']);
  const { isRunning, connectedAt, seenAt, faultDetail, unreadable, unmatched, rejectedAt } = report;
  const problem = conductorProblem(report);
  const state = problem === null ? stateWithout(connectedAt) : isRunning ? 'disconnected' : 'stopped';
  // While the conductor connects, it stores no state, so the last state is from before.
  const since = problem?.since ?? connectedAt ?? seenAt;
  return (
    <Rows>
      <Row label={t('settings:amqp.connection')}>
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Status status={statuses[state]}>{t(`settings:amqp.${state}`)}</Status>
          <span className="text-ink-2">
            <Trans
              text={t(isRunning ? 'settings:amqp.since' : 'settings:amqp.seen')}
              tags={{ time: isRunning ? <DateTime value={since} /> : <RelativeTime value={seenAt} /> }}
            />
          </span>
          {state === 'disconnected' ? <span className="text-ink-2">{t('settings:amqp.retries')}</span> : null}
        </span>
      </Row>
      {problem === null ? null : (
        <Row label={t('settings:amqp.problem')}>
          <VariableNames text={t(`executions:${problem.id}`)} />
        </Row>
      )}
      {state !== 'disconnected' || faultDetail === null ? null : (
        <Row label={t('settings:amqp.detail')}>
          <span lang="" translate="no" className="mono">
            {faultDetail}
          </span>
        </Row>
      )}
      <Row label={t('settings:amqp.unreadable')} note={t('settings:amqp.unreadable.note')}>
        <Num value={unreadable} />
      </Row>
      <Row label={t('settings:amqp.unmatched')} note={t('settings:amqp.unmatched.note')}>
        <Num value={unmatched} />
      </Row>
      {rejectedAt === null ? null : (
        <Row label={t('settings:amqp.rejected')}>
          <DateTime value={rejectedAt} />
        </Row>
      )}
    </Rows>
  );
}
