import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader, runtime } from '#app/_lib/portal.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { Tokens } from './tokens.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('settings');
  return { title: t('tokens') };
}

/** Lists, creates and revokes API tokens. */
export default async function TokensPage() {
  if ((await reader())?.role !== 'admin') return <SettingsFrame place="tokens">{null}</SettingsFrame>;
  const first = await (await portal()).tokens.list();
  return (
    <SettingsFrame place="tokens">
      <Words namespaces={['settings', 'account', 'auth']}>
        <Tokens first={first} portalUrl={runtime().config.url} />
      </Words>
    </SettingsFrame>
  );
}
