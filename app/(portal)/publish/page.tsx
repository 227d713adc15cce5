import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader, runtime } from '#app/_lib/portal.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { PublishView } from './publish-view.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('packages');
  return { title: t('publish.title') };
}

interface Props {
  searchParams: Promise<{ handler?: string | string[] }>;
}

/** The page that starts publishing: the reader chooses a zip, its handler and its version. */
export default async function PublishPage({ searchParams }: Props) {
  const { t } = await words('packages');
  const common = await words('common');
  const { handler } = await searchParams;
  const actor = await reader();
  const crumbs = [{ label: t('publish.title') }];
  if (actor?.role !== 'publisher' && actor?.role !== 'admin') {
    return (
      <Page crumbs={crumbs}>
        <Card>
          <EmptyState as="h1" title={common.t('forbidden.title')}>
            <p>{t('publish.onlyPublishers')}</p>
            <p>{common.t('forbidden.why', { role: common.t(`role.${actor?.role ?? 'viewer'}`) })}</p>
          </EmptyState>
        </Card>
      </Page>
    );
  }
  const api = await portal();
  const [known, publishers, drafts] = await Promise.all([
    api.handlers.list({ limit: 200 }),
    api.publishers.list({ limit: 200 }),
    api.packages.drafts(),
  ]);
  return (
    <Page crumbs={crumbs}>
      <Words namespaces={['packages']}>
        <PublishView
          handler={typeof handler === 'string' ? handler.slice(0, 192) : ''}
          known={known.items.map((row) => row.handler)}
          publishers={publishers.items.map(({ namespace }) => namespace)}
          hasMorePublishers={publishers.nextCursor !== null}
          drafts={drafts}
          packageBytes={runtime().config.limits.packageBytes}
        />
      </Words>
    </Page>
  );
}
