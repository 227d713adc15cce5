import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { ModelsPage } from './models-page.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('models');
  return { title: t('title') };
}

/** The models, with the health of their machines and what needs attention. */
export default async function ModelsRoute() {
  const { t } = await words('models');
  const { models } = await portal();
  const [first, accounts] = await Promise.all([models.counted(), models.storageAccounts().catch(() => undefined)]);
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <Words namespaces={['models', 'reports']}>
        <ModelsPage first={first} accounts={accounts} readAt={Date.now()} />
      </Words>
    </Page>
  );
}
