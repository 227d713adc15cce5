import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { mayHavePasskeys } from '#app/_lib/passkeys.ts';
import { portal, runtime } from '#app/_lib/portal.ts';
import { refusals } from '#server/auth/provider/input.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { Appearance } from './appearance.tsx';
import { Factors } from './factors.tsx';
import { Profile } from './profile.tsx';
import { Sessions } from './sessions.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('account');
  return { title: t('title') };
}

interface AccountPageProps {
  searchParams: Promise<{ refused?: string | string[] }>;
}

/** The reader's profile, second factors and sessions, and the language and theme. */
export default async function AccountPage({ searchParams }: AccountPageProps) {
  const { refused } = await searchParams;
  const { t } = await words('auth');
  const reason = refusals.find((each) => each === refused);
  const api = await portal();
  const [account, sessions] = await Promise.all([api.account.get(), api.account.sessions()]);
  return (
    <SettingsFrame place="account">
      <Words namespaces={['account', 'auth', 'settings']}>
        <div className="grid max-w-[880px] grid-cols-[minmax(0,1fr)] gap-4">
          <Profile first={account} refused={reason && t(`refusedBy.${reason}`)} />
          <Factors first={account} passkeysPossible={mayHavePasskeys(new URL(runtime().config.url).hostname)} />
          <Sessions first={sessions} />
          <Appearance />
        </div>
      </Words>
    </SettingsFrame>
  );
}
