'use client';

import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Status } from '#app/_ui/status.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { conductorProblem, type ExecutionChannel } from '#app/(portal)/executions/conductor.ts';
import { useChannel } from './use-channel.ts';

const BindDialog = dynamic(() => import('./channel-dialogs.tsx').then((module) => module.BindDialog), { ssr: false });
const UnbindDialog = dynamic(() => import('./channel-dialogs.tsx').then((module) => module.UnbindDialog), {
  ssr: false,
});

/**
 * How the agent of a VM gets execution plans. For a VM that uses HTTPS, renders nothing if the portal has no AMQP
 * broker or the reader is not an admin.
 */
export function ChannelCard({ vmId, name }: { vmId: string; name: string }) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  const [act, setAct] = useState<'bind' | 'unbind' | null>(null);
  const { channel, conductor } = useChannel(vmId);
  const error = channel.error ?? conductor.error;
  if (channel.data === undefined || conductor.data === undefined) {
    if (error === null) return null;
    return (
      <Card>
        <CardHeader title={t('channel.title')} />
        <QueryError error={error} onRetry={() => Promise.all([channel.refetch(), conductor.refetch()])} />
      </Card>
    );
  }
  const bound = channel.data;
  const isConnected = conductorProblem(conductor.data) === null && conductor.data?.connectedAt != null;
  if (bound === null && (conductor.data === null || !reader.can('admin'))) return null;
  return (
    <Card aria-labelledby="execution-channel">
      <CardHeader
        id="execution-channel"
        title={t('channel.title')}
        actions={reader.can('admin') ? <Acts isBound={bound !== null} onAct={setAct} /> : undefined}
      />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p className="max-w-[72ch] text-pretty text-ink-2">
          {t(bound === null ? 'channel.https' : isConnected ? 'channel.amqp' : 'channel.amqp.waiting')}
        </p>
        {bound === null ? null : <Bound channel={bound} isConnected={isConnected} />}
      </CardBody>
      {act === 'bind' ? (
        <BindDialog vmId={vmId} name={name} channel={bound} onClose={() => setAct(null)} />
      ) : act === 'unbind' ? (
        <UnbindDialog vmId={vmId} name={name} onClose={() => setAct(null)} />
      ) : null}
    </Card>
  );
}

function Acts({ isBound, onAct }: { isBound: boolean; onAct(act: 'bind' | 'unbind'): void }) {
  const { t } = useTranslation('executions');
  return (
    <>
      <Button size="sm" onClick={() => onAct('bind')}>
        {t(isBound ? 'channel.change' : 'channel.bind')}
      </Button>
      {isBound ? (
        <Button size="sm" onClick={() => onAct('unbind')}>
          {t('channel.unbind')}
        </Button>
      ) : null}
    </>
  );
}

function Bound({ channel, isConnected }: { channel: ExecutionChannel; isConnected: boolean }) {
  const { t } = useTranslation('executions');
  const { inputQueue, dialect, boundAt, boundBy } = channel;
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,240px),1fr))] gap-x-6 gap-y-2.5 text-12">
      <Fact label={t('channel.connection')}>
        <Status status={isConnected ? 'healthy' : 'failed'}>
          {t(isConnected ? 'channel.connected' : 'channel.disconnected')}
        </Status>
      </Fact>
      <Fact label={t('channel.queue')}>
        <code translate="no" className="mono-11">
          {inputQueue}
        </code>
      </Fact>
      <Fact label={t('channel.agent')}>{t(`channel.agent.${dialect}`)}</Fact>
      <Fact label={t('channel.bound')}>
        <Trans
          text={t('channel.bound.by', { who: boundBy })}
          tags={{ time: <DateTime value={new Date(boundAt)} />, who: <span translate="no" /> }}
        />
      </Fact>
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-ink-3">{label}</dt>
      <dd className="mt-0.5 wrap-anywhere">{children}</dd>
    </div>
  );
}
