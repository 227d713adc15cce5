import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { HandlerView } from './handler-view.tsx';
import { openRolloutsOf } from './open-rollouts-query.ts';

interface Props {
  params: Promise<{ handler: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).handler) };
}

/** One handler: its versions, their VMs, and the coverage of each language. */
export default async function HandlerPage({ params }: Props) {
  const { t } = await words('packages');
  const handler = decodeURIComponent((await params).handler);
  const { handlers, rollouts } = await portal();
  const [first, open, automatic] = await Promise.all([
    orNotFound(handlers.get({ handler })),
    // If these cannot be read, their cards say so; the rest of the page does not need them.
    rollouts.list(openRolloutsOf(handler)).catch(() => undefined),
    rollouts.automaticOfHandler({ handler }).catch(() => undefined),
  ]);
  const hasRollouts = open !== undefined && open.items.length > 0;
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/handlers' },
        { label: first.type, isName: true },
      ]}
    >
      <Words namespaces={hasRollouts ? ['packages', 'rollouts'] : ['packages']}>
        <HandlerView handler={handler} first={first} open={open} automatic={automatic} />
      </Words>
    </Page>
  );
}
