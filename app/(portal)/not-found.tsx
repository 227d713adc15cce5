import Link from 'next/link';
import { words } from '../_lib/i18n/server.ts';
import { Page } from '../_shell/page.tsx';
import { Button } from '../_ui/button.tsx';
import { Card } from '../_ui/card.tsx';
import { EmptyState } from '../_ui/empty-state.tsx';

/** Shown for a VM, handler or page that does not exist. */
export default async function PortalNotFound() {
  const { t } = await words('common');
  return (
    <Page crumbs={[{ label: t('notFound.title') }]}>
      <Card>
        <EmptyState
          as="h1"
          title={t('notFound.title')}
          actions={
            <Button asChild>
              <Link href="/vms">{t('notFound.act')}</Link>
            </Button>
          }
        >
          <p>{t('notFound.why')}</p>
        </EmptyState>
      </Card>
    </Page>
  );
}
