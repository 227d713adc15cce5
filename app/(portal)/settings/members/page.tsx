import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { Invitations } from './invitations.tsx';
import { Members } from './members.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('settings');
  return { title: t('members') };
}

/** Members with their roles, and open invitations. */
export default async function MembersPage() {
  if ((await reader())?.role !== 'admin') return <SettingsFrame place="members">{null}</SettingsFrame>;
  const api = await portal();
  const [members, invitations] = await Promise.all([api.members.list(), api.invitations.list()]);
  return (
    <SettingsFrame place="members">
      <Words namespaces={['settings', 'account', 'auth']}>
        <div className="grid gap-4">
          <Members first={members} />
          <Invitations first={invitations} />
        </div>
      </Words>
    </SettingsFrame>
  );
}
