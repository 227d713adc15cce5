'use client';

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card } from '#app/_ui/card.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { Countdown, DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { RunningFor } from '#app/(portal)/executions/duration.tsx';
import {
  executionHref,
  isWaiting,
  type ShownExecution,
  type ShownExecutionDetails,
} from '#app/(portal)/executions/execution-data.ts';
import {
  executionsBefore,
  isQuiet,
  lastContact,
  obstacleOf,
  planTimeoutAt,
} from '#app/(portal)/executions/shown-state.ts';
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
  const { vmId, state, queuedAt, begunAt, calls } = execution;
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
        {state === 'queued' ? (
          <Turn execution={execution} agent={view.data?.agent} />
        ) : isQuiet(execution, view.data?.agent) ? (
          <Quiet vmId={vmId} since={lastContact(view.data?.agent.lastSeenAt ?? null, execution)} />
        ) : (
          <Progress execution={execution} />
        )}
      </p>
      <ol className="mt-3 grid grid-cols-[repeat(auto-fit,minmax(10rem,1fr))] gap-x-4 gap-y-3">
        <Step status="healthy" title={t('stands.queued')}>
          <DateTime value={new Date(queuedAt)} style="time" />
        </Step>
        <Approval execution={execution} />
        {view.data === undefined ? null : <Machine agent={view.data.agent} execution={execution} />}
        <Delivery execution={execution} isHeld={view.data?.agent.hold != null} />
        {begunAt === null || state === 'restarting' ? null : (
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
        <End execution={execution} />
      </ol>
    </Card>
  );
}

/** The machine of a delivered execution is not responding, so that it is unknown whether it still runs. */
function Quiet({ vmId, since }: { vmId: string; since: string | null }) {
  const { t } = useTranslation('executions');
  return (
    <Trans
      text={t('progress.quiet')}
      tags={{
        time: since === null ? <span /> : <RelativeTime value={new Date(since)} />,
        link: <TextLink href={`/vms/${vmId}`} />,
      }}
    />
  );
}

/** Enough for all executions of a VM that have not ended. */
const allOpen = 200;

/** What a queued execution waits for: the machine, the end of a hold, other executions, or only its delivery. */
function Turn({ execution, agent }: { execution: ShownExecution; agent: InstanceDetails['agent'] | undefined }) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const { vmId, turn } = execution;
  const open = useQuery(trpc.executions.list.queryOptions({ vmId, ended: false, limit: allOpen }));
  const obstacle = agent === undefined ? null : obstacleOf(execution, agent);
  if (obstacle !== null) return t(`progress.${obstacle}`);
  if (open.data === undefined) return <Progress execution={execution} />;
  const [first, ...more] = executionsBefore(open.data.items, turn);
  if (first === undefined) return t('progress.next');
  return (
    <Trans
      text={t(more.length === 0 ? 'progress.after' : 'progress.afterMore', {
        name: first.name === '' ? t('unnamed') : first.name,
        count: more.length,
      })}
      tags={{ link: <TextLink href={executionHref(first)} /> }}
    />
  );
}

/** The approval by a second person; nothing for executions that need none. */
function Approval({ execution: { state, approval } }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  if (state === 'waiting-approval') {
    return (
      <Step status="waiting" title={t('stands.notApproved')}>
        {t('stands.notApproved.why')}
      </Step>
    );
  }
  if (approval === null) return null;
  return (
    <Step status="healthy" title={t('fact.approved')}>
      <DateTime value={new Date(approval.at)} style="time" /> · <span translate="no">{approval.by}</span>
    </Step>
  );
}

function Delivery({ execution, isHeld }: { execution: ShownExecution; isHeld: boolean }) {
  const { t } = useTranslation('executions');
  const { state, deliveredAt, channel } = execution;
  if (deliveredAt === null) {
    const byChannel = channel === 'amqp' ? 'stands.notDelivered.amqp' : 'stands.notDelivered.why';
    return (
      <Step status="waiting" title={t('stands.notDelivered')}>
        {t(
          state === 'waiting-approval'
            ? 'stands.notDelivered.approval'
            : isHeld
              ? 'stands.notDelivered.hold'
              : byChannel,
        )}
      </Step>
    );
  }
  return (
    <Step status="healthy" title={t('stands.delivered')}>
      <DateTime value={new Date(deliveredAt)} style="time" />
    </Step>
  );
}

/** When the execution expires or its plan times out. */
function End({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const { dueAt } = execution;
  const timeoutAt = planTimeoutAt(execution);
  if (isWaiting(execution) || timeoutAt === null) {
    return dueAt === null ? null : (
      <Step status="waiting" title={t('stands.expires')}>
        <RelativeTime value={new Date(dueAt)} />
      </Step>
    );
  }
  return (
    <Step status="waiting" title={<Countdown value={new Date(timeoutAt)} />}>
      {t('stands.timesOut')}
    </Step>
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

interface MachineProps extends Pick<InstanceDetails, 'agent'> {
  execution: ShownExecution;
}

/** Whether the machine is responding. If it is not, the execution cannot continue. */
function Machine({ agent: { status, lastSeenAt, hold }, execution }: MachineProps) {
  const { t } = useTranslation('executions');
  const contactAt = lastContact(lastSeenAt, execution);
  if (contactAt === null) {
    // An agent that takes plans only from the broker never polls the portal.
    return execution.channel === 'amqp' ? null : (
      <Step status="waiting" title={t('stands.never')}>
        {t('stands.never.why')}
      </Step>
    );
  }
  const isRestarting = execution.state === 'restarting';
  // A delivery and the progress of the Body are contacts too, so an overdue poll says nothing after them.
  const isNewer = contactAt !== lastSeenAt && hold === null && status !== 'ready' && !isQuiet(execution, { status });
  const [icon, title] = isRestarting
    ? (['progressing', 'stands.restarting'] as const)
    : isNewer
      ? (['unknown', 'stands.contact'] as const)
      : stateOfMachine(status, hold !== null);
  return (
    <Step status={icon} title={t(title)}>
      {lastSeenAt === null || (isNewer && !isRestarting) ? (
        <RelativeTime value={new Date(contactAt)} />
      ) : (
        <Trans text={t('stands.lastPoll')} tags={{ time: <RelativeTime value={new Date(lastSeenAt)} /> }} />
      )}
    </Step>
  );
}

function stateOfMachine(status: InstanceDetails['agent']['status'], isHeld: boolean) {
  if (isHeld) return ['disabled', 'stands.held'] as const;
  if (status === 'unresponsive') return ['unresponsive', 'stands.silent'] as const;
  return status === 'unknown' ? (['unknown', 'stands.overdue'] as const) : (['healthy', 'stands.heard'] as const);
}
