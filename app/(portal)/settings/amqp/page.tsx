import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { BrokerCard } from './broker-card.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('settings');
  return { title: t('amqp') };
}

/** The connection to the AMQP broker: its state, and what to do if the broker cannot be used. */
export default async function AmqpSettingsPage() {
  if ((await reader())?.role !== 'admin') return <SettingsFrame place="amqp">{null}</SettingsFrame>;
  const first = await (await portal()).executions.conductor();
  return (
    <SettingsFrame place="amqp">
      <Words namespaces={['settings', 'executions']}>
        <div className="grid max-w-[880px] grid-cols-[minmax(0,1fr)] gap-4">
          <BrokerCard first={first} readAt={Date.now()} />
        </div>
      </Words>
    </SettingsFrame>
  );
}
