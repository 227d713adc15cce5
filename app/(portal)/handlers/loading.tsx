import { words } from '#app/_lib/i18n/server.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { Skeleton, SkeletonRows } from '#app/_ui/skeleton.tsx';

/** The outline of the catalogue, until the portal has answered. */
export default async function HandlersLoading() {
  const { t } = await words('packages');
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <div className="mb-4 flex h-8 items-center">
        <Skeleton className="h-4 w-32" />
      </div>
      <div className="mb-3 h-8" />
      <Card>
        <div className="h-8 border-b border-line" />
        <SkeletonRows label={t('list.loading')} columns={['w-40', 'w-28', 'w-16', 'w-32', 'w-20']} rows={8} />
      </Card>
    </Page>
  );
}
