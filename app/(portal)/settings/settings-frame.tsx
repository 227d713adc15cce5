import type { ReactNode } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { reader } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { TabLinks } from '#app/_ui/tab-links.tsx';

export type SettingsPlace = 'account' | 'members' | 'tokens' | 'signIn' | 'rules' | 'amqp';

/** Title and tabs of the settings. Readers who may not see a page get an explanation instead of its content. */
export async function SettingsFrame({ place, children }: { place: SettingsPlace; children: ReactNode }) {
  const [{ t }, common, actor] = await Promise.all([words('settings'), words('common'), reader()]);
  return (
    <Page crumbs={[{ label: t('title'), href: '/settings' }, { label: t(place) }]}>
      <PageHeader title={t('title')} />
      <TabLinks
        label={t('views')}
        tabs={[
          { href: '/settings/account', label: t('account') },
          { href: '/settings/members', label: t('members') },
          { href: '/settings/tokens', label: t('tokens') },
          { href: '/settings/sign-in', label: t('signIn') },
          { href: '/settings/rules', label: t('rules') },
          { href: '/settings/amqp', label: t('amqp') },
        ]}
      />
      {place === 'account' || actor?.role === 'admin' ? (
        children
      ) : (
        <Card>
          <EmptyState title={common.t('forbidden.title')}>
            <p>{t('onlyAdmins')}</p>
            {actor?.role ? <p>{common.t('forbidden.why', { role: common.t(`role.${actor.role}`) })}</p> : null}
          </EmptyState>
        </Card>
      )}
    </Page>
  );
}
