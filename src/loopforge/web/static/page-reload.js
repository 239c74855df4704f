/* Shows the page anew, unless somebody is on their way to another one: that would hold them here. */
let leaves = false;
addEventListener("beforeunload", () => { leaves = true; });
addEventListener("pageshow", () => { leaves = false; });

export const reload = () => leaves || location.reload();
