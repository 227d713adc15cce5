import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { openPortal } from '#app/_lib/portal.ts';
import { codeOf } from '#app/_lib/server-problem.ts';
import { DataProvider } from '#app/_lib/trpc.tsx';
import { Stage } from '#app/_shell/stage.tsx';
import { Button } from '#app/_ui/button.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { JoinForm } from './join-form.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('auth');
  // The URL contains the one-time token, so it must not be sent to other sites.
  return { title: t('setUp.title.join'), referrer: 'no-referrer' };
}

interface SetUpPageProps {
  searchParams: Promise<{ token?: string | string[] }>;
}

/** The page of a one-time link: the setup link, which creates the first admin, or an invitation to join. */
export default async function SetUpPage({ searchParams }: SetUpPageProps) {
  const { token } = await searchParams;
  const { provider } = await (await openPortal()).signIn.ways();
  const invitation = typeof token === 'string' && token !== '' ? await readInvitation(token) : 'refused';
  return (
    <Stage>
      {invitation === 'refused' || typeof token !== 'string' ? (
        <RefusedLink />
      ) : (
        <Words namespaces={['auth']}>
          <DataProvider>
            <JoinForm token={token} {...invitation} provider={provider} />
          </DataProvider>
        </Words>
      )}
    </Stage>
  );
}

async function readInvitation(token: string) {
  try {
    return await (await openPortal()).invitations.read({ token });
  } catch (error) {
    if (['invitation_refused', 'invalid'].includes(codeOf(error))) return 'refused';
    throw error;
  }
}

async function RefusedLink() {
  const { t } = await words('auth');
  return (
    <EmptyState
      as="h1"
      status="failed"
      title={t('refused.title')}
      actions={
        <Button asChild>
          <a href="/sign-in">{t('refused.signIn')}</a>
        </Button>
      }
    >
      <p>{t('refused.why')}</p>
      <p>{t('refused.next.join')}</p>
      <p>{t('refused.next.first')}</p>
    </EmptyState>
  );
}
