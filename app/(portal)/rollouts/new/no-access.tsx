import { words } from '#app/_lib/i18n/server.ts';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';

/** Shown to readers who may view rollouts but not create them. */
export async function NoAccess({ role }: { role: string }) {
  const [{ t }, { t: say }] = await Promise.all([words('common'), words('rollouts')]);
  const roleWord = role === 'publisher' ? t('role.publisher') : t('role.viewer');
  return (
    <Card>
      <EmptyState as="h1" title={t('forbidden.title')}>
        <p>{t('forbidden.why', { role: roleWord })}</p>
        <p>
          <TextLink href="/rollouts">{say('new.rollouts')}</TextLink>
        </p>
      </EmptyState>
    </Card>
  );
}
