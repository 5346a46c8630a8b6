// Shows the document that is in the page, with everything off that would ask other hosts.
(() => {
  const sends = document.getElementById("reference").dataset.sends === "true";
  const content = JSON.parse(document.getElementById("document").textContent);
  // Scalar resolves addresses that begin with a dot against the host, without the path of the page.
  for (const server of content.servers) if (server.url.startsWith(".")) server.url = new URL(server.url, location.href).href;
  Scalar.createApiReference("#reference", {
    content,
    agent: { disabled: true },
    defaultOpenAllTags: true,
    documentDownloadType: "none",
    hideClientButton: true,
    hideTestRequestButton: !sends,
    modelsSectionLabel: "Schemas",
    mcp: { disabled: true },
    orderSchemaPropertiesBy: "preserve",
    persistAuth: false,
    showDeveloperTools: "never",
    telemetry: false,
    withDefaultFonts: false,
  });
  // What it leaves without a name, with the name of something else, or out of reach of the keyboard.
  const mend = () => {
    for (const each of document.querySelectorAll(".scalar-code-copy:not([aria-label])")) each.setAttribute("aria-label", "Copy");
    for (const each of document.querySelectorAll(".scalar-card[role=region]")) each.setAttribute("role", "group");
    // With the button that sends a request, its first operation is a landmark twice.
    if (sends) for (const each of document.querySelectorAll("section.section[id*='/tag/']:not([role])")) each.setAttribute("role", "group");
    for (const each of document.querySelectorAll("ul.endpoints:not([tabindex])")) each.tabIndex = 0;
  };
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
})();
