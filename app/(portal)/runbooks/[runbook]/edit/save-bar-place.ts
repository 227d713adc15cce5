/** Id of the element that contains the editor's buttons, below everything that scrolls. */
export const saveBarId = 'runbook-save';
