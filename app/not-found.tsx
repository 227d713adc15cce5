import type { Metadata } from 'next';
import { words } from './_lib/i18n/server.ts';
import { Stage } from './_shell/stage.tsx';
import { Button } from './_ui/button.tsx';
import { EmptyState } from './_ui/empty-state.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('common');
  return { title: t('notFound.title') };
}

/** Shown for an unknown URL outside the shell. */
export default async function NotFound() {
  const { t } = await words('common');
  return (
    <Stage>
      <EmptyState
        as="h1"
        title={t('notFound.title')}
        actions={
          <Button asChild>
            <a href="/vms">{t('notFound.act')}</a>
          </Button>
        }
      >
        <p>{t('notFound.why')}</p>
      </EmptyState>
    </Stage>
  );
}
