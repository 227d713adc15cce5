'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import {
  hasEnded,
  isWaiting,
  type LogPage,
  type LogPart,
  type ShownExecutionDetails,
} from '#app/(portal)/executions/execution-data.ts';
import { OperatorsOnly } from '../../operators-only.tsx';
import type { InstanceDetails } from '../../vm-data.ts';
import { ChannelBanner } from '../channel/channel-banner.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { CallsCard } from './calls-card.tsx';
import { ExecutionHeader } from './execution-header.tsx';
import type { LogHandle } from './log/log-card.tsx';
import { type LogName, logOfExecution } from './log/shown-log.ts';
import { OutcomeCard } from './outcome-card.tsx';
import { WhereItStands } from './where-it-stands.tsx';

// The code of these cards loads after the page. The server renders the cards, so the layout does not shift.
const LogCard = dynamic(() => import('./log/log-card.tsx').then((module) => module.LogCard));
const ResultCard = dynamic(() => import('./result-card.tsx').then((module) => module.ResultCard));
const PlanCard = dynamic(() => import('./plan-card.tsx').then((module) => module.PlanCard));

/** The data that the server read for the page. The page loads the undefined parts itself. */
export interface FirstParts {
  view: InstanceDetails | undefined;
  log: LogPage | undefined;
  errors: LogPart | undefined;
  result: string | null | undefined;
  plan: string | undefined;
}

export interface ExecutionPageProps {
  first: ShownExecutionDetails;
  parts: FirstParts;
  /** When the server read `first` and `parts`, in milliseconds since 1970. */
  readAt: number;
}

/** An execution, kept up to date. */
export function ExecutionPage({ first, parts, readAt }: ExecutionPageProps) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const reader = useReader();
  const log = useRef<LogHandle>(null);
  const [call, setCall] = useState<number | null>(null);
  const { vmId, id } = first;
  const name = useMemo<LogName>(() => ({ of: 'execution', vmId, executionId: id }), [vmId, id]);
  const { data: execution } = useQuery({
    ...trpc.executions.get.queryOptions({ vmId, executionId: id }),
    initialData: first,
    initialDataUpdatedAt: readAt,
  });
  return (
    <>
      <ExecutionHeader execution={execution} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {execution.channel === 'amqp' && isWaiting(execution) ? <ChannelBanner vmId={vmId} /> : null}
        {execution.state === 'waiting-approval' ? <ApprovalCard execution={execution} /> : null}
        {hasEnded(execution) ? (
          <OutcomeCard execution={execution} />
        ) : (
          <WhereItStands execution={execution} first={parts.view} />
        )}
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
          <CallsCard
            execution={execution}
            current={call}
            onOpen={(each) => {
              setCall(each.n);
              log.current?.show(each.row);
            }}
          />
          {reader.can('operator') ? (
            <LogCard
              ref={log}
              log={logOfExecution(name, execution)}
              first={parts.log && { page: parts.log, readAt }}
              firstErrors={parts.errors}
            />
          ) : (
            <OperatorsOnly what={t('operatorsOnly')} />
          )}
        </div>
        {reader.can('operator') ? (
          <>
            <ResultCard execution={execution} first={parts.result} />
            <PlanCard execution={execution} first={parts.plan} />
          </>
        ) : null}
      </div>
    </>
  );
}
