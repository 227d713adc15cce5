import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { AttemptsCard } from './attempts-card.tsx';
import { ProviderCard } from './provider-card.tsx';
import { SignInRules } from './sign-in-rules.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('settings');
  return { title: t('signIn') };
}

/** The sign-in settings: whether everyone needs a second factor, the OpenID provider, and failed sign-ins. */
export default async function SignInSettingsPage() {
  if ((await reader())?.role !== 'admin') return <SettingsFrame place="signIn">{null}</SettingsFrame>;
  const api = await portal();
  const [rules, provider, attempts] = await Promise.all([
    api.signIn.rules(),
    api.signIn.provider(),
    api.signIn.attempts(),
  ]);
  return (
    <SettingsFrame place="signIn">
      <Words namespaces={['settings']}>
        <div className="grid max-w-[880px] grid-cols-[minmax(0,1fr)] gap-4">
          <SignInRules first={rules} />
          <ProviderCard provider={provider} />
          <AttemptsCard attempts={attempts} />
        </div>
      </Words>
    </SettingsFrame>
  );
}
