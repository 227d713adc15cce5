import { words } from '../_lib/i18n/server.ts';
import { Page } from '../_shell/page.tsx';
import { Card } from '../_ui/card.tsx';
import { Skeleton, SkeletonRows } from '../_ui/skeleton.tsx';

/** The outline of a page with a table, until the portal has answered. */
export default async function PortalLoading() {
  const { t } = await words('common');
  return (
    <Page crumbs={[]}>
      <div className="mb-4 flex h-8 items-center">
        <Skeleton className="h-4 w-40" />
      </div>
      <Card>
        <SkeletonRows label={t('loading')} columns={['w-28', 'w-20', 'w-48', 'w-16']} rows={8} />
      </Card>
    </Page>
  );
}
