import { Card } from '#app/_ui/card.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';

/** Placeholders for two cards, at roughly their final heights. */
export function EditorSkeleton({ label }: { label: string }) {
  return (
    <div role="status" aria-busy="true" aria-label={label}>
      <div className="mb-4 grid h-14 content-center gap-2">
        <Skeleton className="h-4 w-40" />
        <Skeleton className="w-56" />
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
        {['h-[520px]', 'h-[360px]'].map((height) => (
          <Card key={height} className={height}>
            <div className="grid gap-4 px-4 py-4">
              <Skeleton className="w-24" />
              <Skeleton className="h-8 w-full" />
              <Skeleton className="w-32" />
              <Skeleton className="h-8 w-full" />
            </div>
          </Card>
        ))}
      </div>
    </div>
  );
}
