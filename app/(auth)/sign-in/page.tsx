import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { openPortal, reader } from '#app/_lib/portal.ts';
import { safeNext } from '#app/_lib/sign-in.ts';
import { Stage } from '#app/_shell/stage.tsx';
import { refusals } from '#server/auth/provider/input.ts';
import { SignInForm } from './sign-in-form.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('auth');
  return { title: t('signIn.title') };
}

interface SignInPageProps {
  searchParams: Promise<{ next?: string | string[]; refused?: string | string[] }>;
}

/** Offers the ways to sign in. Redirects a reader who is already signed in. */
export default async function SignInPage({ searchParams }: SignInPageProps) {
  const { next: wish, refused } = await searchParams;
  const next = safeNext(typeof wish === 'string' ? wish : undefined);
  const actor = await reader();
  if (actor !== null) redirect(actor.role === null ? `/second-factor?next=${encodeURIComponent(next)}` : next);
  const { provider, hasMembers } = await (await openPortal()).signIn.ways();
  const { t } = await words('auth');
  const reason = refusals.find((each) => each === refused);
  return (
    <Stage>
      <Words namespaces={['auth']}>
        <SignInForm
          next={next}
          provider={provider}
          hasMembers={hasMembers}
          refused={reason && t(`refusedBy.${reason}`)}
        />
      </Words>
    </Stage>
  );
}
