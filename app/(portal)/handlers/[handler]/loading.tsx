import { words } from '#app/_lib/i18n/server.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { Skeleton, SkeletonRows } from '#app/_ui/skeleton.tsx';

/** The outline of a handler's page, until the portal has answered. */
export default async function HandlerLoading() {
  const { t } = await words('packages');
  return (
    <Page crumbs={[{ label: t('title'), href: '/handlers' }]}>
      <div className="mb-4 grid gap-3 pt-2">
        <Skeleton className="h-4 w-40" />
        <Skeleton className="w-96" />
      </div>
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_352px]">
        <Card>
          <div className="h-11" />
          <SkeletonRows label={t('versions.loading')} columns={['w-16', 'w-20', 'w-12', 'w-32', 'w-16']} rows={5} />
        </Card>
        <Card>
          <div className="h-11" />
          <SkeletonRows label={t('languages.loading')} columns={['w-8', 'w-40', 'w-16']} rows={3} />
        </Card>
      </div>
    </Page>
  );
}
