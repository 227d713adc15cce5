/** The types of scripts that agents may be able to run, as in the protocol's `platformNames`, whose module is large. */
export const scriptTypes = ['Bash', 'Application', 'Python', 'PowerShell', 'Puppet', 'Chef', 'SaltStack'] as const;
