import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { ApprovalRules, RolloutRules, Strategies } from './rule-cards.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('settings');
  return { title: t('rules') };
}

/** The rules for executions and for rollouts. */
export default async function RulesPage() {
  if ((await reader())?.role !== 'admin') return <SettingsFrame place="rules">{null}</SettingsFrame>;
  const { executions, rolloutRules, strategies } = await portal();
  const [rules, ofRollouts, saved] = await Promise.all([executions.rules(), rolloutRules.get(), strategies.list()]);
  return (
    <SettingsFrame place="rules">
      <Words namespaces={['settings']}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <ApprovalRules first={rules} />
          <RolloutRules first={ofRollouts} />
          <Strategies first={saved} />
        </div>
      </Words>
    </SettingsFrame>
  );
}
