import { words } from '#app/_lib/i18n/server.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { asideClass, gridClass, mapHeight } from './frame.ts';

const tiles = ['a', 'b', 'c', 'd', 'e', 'f'];

/** The outline of the overview, until the portal has answered. */
export default async function OverviewLoading() {
  const { t } = await words('overview');
  return (
    <Page crumbs={[{ label: t('title') }]}>
      <div role="status" aria-busy="true" aria-label={t('loading')}>
        <div className="mb-4 flex h-8 items-center max-sm:mb-3">
          <Skeleton className="h-4 w-48" />
        </div>
        <Card className="grid h-[98px] grid-cols-6 items-center gap-4 px-4 max-sm:h-[138px] max-sm:grid-cols-3">
          {tiles.map((tile) => (
            <Skeleton key={tile} className="h-6 w-20" />
          ))}
        </Card>
        <div className={gridClass}>
          <Card>
            <div className="flex h-11 items-center px-4">
              <Skeleton className="w-24" />
            </div>
            <div className={mapHeight(Number.POSITIVE_INFINITY)} />
          </Card>
          <div className={asideClass}>
            <Card className="h-[62px]" />
            <Card className="h-[202px]" />
            <Card className="h-72" />
          </div>
        </div>
      </div>
    </Page>
  );
}
