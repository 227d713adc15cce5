'use client';

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card } from '#app/_ui/card.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { Countdown, DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { RunningFor } from '#app/(portal)/executions/duration.tsx';
import { isWaiting, type ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { ageMs, type InstanceDetails } from '../../vm-data.ts';
import { Progress } from '../now-and-next.tsx';
import { callName } from './call-name.ts';

/** The progress of an execution that has not ended, as steps from the queue to its timeout. */
export function WhereItStands({
  execution,
  first,
}: {
  execution: ShownExecutionDetails;
  first: InstanceDetails | undefined;
}) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const { vmId, queuedAt, deliveredAt, begunAt, dueAt, calls } = execution;
  const view = useQuery({
    ...trpc.instanceViews.get.queryOptions({ vmId }),
    initialData: first,
    refetchInterval: ageMs,
  });
  const call = calls.findLast(({ state }) => state === 'running');
  return (
    <Card className="px-4 py-3.5">
      <h2 className="text-12 text-ink-2">{t('stands.title')}</h2>
      <p className="mt-0.5 text-14 font-medium text-pretty">
        <Progress execution={execution} />
      </p>
      <ol className="mt-3 grid grid-cols-[repeat(auto-fit,minmax(10rem,1fr))] gap-x-4 gap-y-3">
        <Step status="healthy" title={t('stands.queued')}>
          <DateTime value={new Date(queuedAt)} style="time" />
        </Step>
        {view.data === undefined ? null : <Machine agent={view.data.agent} />}
        {deliveredAt === null ? (
          <Step status="waiting" title={t('stands.notDelivered')}>
            {t('stands.notDelivered.why')}
          </Step>
        ) : (
          <Step status="healthy" title={t('stands.delivered')}>
            <DateTime value={new Date(deliveredAt)} style="time" />
          </Step>
        )}
        {begunAt === null ? null : (
          <Step
            status="progressing"
            title={
              call === undefined ? (
                t('stands.body')
              ) : (
                <Trans
                  text={t('stands.call', { n: call.n, name: callName(call) })}
                  tags={{ code: <code translate="no" className="mono wrap-anywhere" /> }}
                />
              )
            }
          >
            <RunningFor since={new Date(Date.parse(begunAt) + (call?.atMs ?? 0)).toISOString()} />
          </Step>
        )}
        {dueAt === null ? null : (
          <Step
            status="waiting"
            title={
              isWaiting(execution) ? <RelativeTime value={new Date(dueAt)} /> : <Countdown value={new Date(dueAt)} />
            }
          >
            {t(isWaiting(execution) ? 'stands.expires' : 'stands.timesOut')}
          </Step>
        )}
      </ol>
    </Card>
  );
}

interface StepProps {
  status: StatusName;
  title: ReactNode;
  children: ReactNode;
}

function Step({ status, title, children }: StepProps) {
  return (
    <li data-st={status} className="flex items-start gap-2">
      <StatusIcon status={status} className="mt-0.5" />
      <div className="min-w-0">
        <p className="font-medium tabular-nums">{title}</p>
        <p className="text-12 text-pretty text-ink-2 tabular-nums">{children}</p>
      </div>
    </li>
  );
}

/** Whether the machine is responding. If it is not, the execution cannot continue. */
function Machine({ agent: { status, lastSeenAt, hold } }: Pick<InstanceDetails, 'agent'>) {
  const { t } = useTranslation('executions');
  if (lastSeenAt === null) {
    return (
      <Step status="waiting" title={t('stands.never')}>
        {t('stands.never.why')}
      </Step>
    );
  }
  const [icon, title] = stateOfMachine(status, hold !== null);
  return (
    <Step status={icon} title={t(title)}>
      <Trans text={t('stands.lastPoll')} tags={{ time: <RelativeTime value={new Date(lastSeenAt)} /> }} />
    </Step>
  );
}

function stateOfMachine(status: InstanceDetails['agent']['status'], isHeld: boolean) {
  if (isHeld) return ['disabled', 'stands.held'] as const;
  if (status === 'unresponsive') return ['unresponsive', 'stands.silent'] as const;
  return status === 'unknown' ? (['unknown', 'stands.overdue'] as const) : (['healthy', 'stands.heard'] as const);
}
