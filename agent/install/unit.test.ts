import { expect, test } from 'vitest';
import { unitText } from './unit.ts';

test('the unit always restarts the agent, and does not end the services of handlers', () => {
  const text = unitText({
    dir: '/var/lib/annex-agent',
    user: 'root',
    program: ['/usr/bin/node', '/usr/local/bin/annex-agent'],
  });
  expect(text).toContain(
    'ExecStart="/usr/bin/node" "/usr/local/bin/annex-agent" "run" "--dir" "/var/lib/annex-agent"\n',
  );
  expect(text).toContain(
    'ExecStartPre=-/bin/sh "-c" "[ ! -e \\"$$2\\" ] || exec \\"$$@\\"" "sh" "/usr/bin/node" "/usr/local/bin/previous-annex-agent" "settle-update" "--dir" "/var/lib/annex-agent"\n',
  );
  for (const line of ['Restart=always', 'KillMode=process', 'User=root', 'WantedBy=multi-user.target']) {
    expect(text.split('\n')).toContain(line);
  }
});

test('special characters of systemd are escaped', () => {
  const text = unitText({ dir: '/srv/100% "of" $HOME', user: 'annex', program: ['/opt/a b/agent'] });
  expect(text).toContain('ExecStart="/opt/a b/agent" "run" "--dir" "/srv/100%% \\"of\\" $$HOME"\n');
});
